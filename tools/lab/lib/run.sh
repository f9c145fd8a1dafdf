# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# lab run and lab shell: one boot of the guest. Nothing of a run is seen by another; all that a run
# makes beside the shared folder is in one directory, removed at the end.

# Defaults of the options, see README.md.
RUN_KERNEL=testing
RUN_SMP=2
RUN_MEM=1024
RUN_CPU=rv64,smctr=on,ssctr=on,smcsrind=on,sscsrind=on,sscofpmf=on
RUN_MACHINE=
RUN_TIMEOUT=600
RUN_EXTRA_MEM=0
RUN_PLUGIN=''
RUN_DTB_HOOK=''
RUN_SHARE=''
RUN_LOG=''
RUN_APPEND=''
RUN_ENV=()
RUN_QEMU_ARGS=()
RUN_COMMAND=()

# Self-tests and certificates that cost a second and that no test is about.
RUN_INITCALLS=initcall_blacklist=load_system_certificate_list,jent_mod_init
RUN_RAM_BASE=0x80000000
RUN_DIR=''
RUN_RAM=''
RUN_PID=''

run_options()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--quiet) export LAB_QUIET=1; shift; continue ;;
		--) shift; RUN_COMMAND=("$@"); break ;;
		--*) [ $# -ge 2 ] || lab_die "$1 needs a value" ;;
		*) RUN_COMMAND=("$@"); break ;;
		esac
		case $1 in
		--kernel) RUN_KERNEL=$2 ;;
		--smp) RUN_SMP=$2 ;;
		--mem) RUN_MEM=$2 ;;
		--extra-mem) RUN_EXTRA_MEM=$2 ;;
		--cpu) RUN_CPU=$2 ;;
		--machine) RUN_MACHINE=$2 ;;
		--timeout) RUN_TIMEOUT=$2 ;;
		--plugin) RUN_PLUGIN=$2 ;;
		--dtb-hook) RUN_DTB_HOOK=$2 ;;
		--share) RUN_SHARE=$2 ;;
		--log) RUN_LOG=$2 ;;
		--append) RUN_APPEND+=" $2" ;;
		--env) RUN_ENV+=("$2") ;;
		--qemu-arg) RUN_QEMU_ARGS+=("$2") ;;
		*) lab_die "no option $1: see tools/lab/README.md" ;;
		esac
		shift 2
	done
	run_check
}

run_check()
{
	local value

	for value in "$RUN_SMP" "$RUN_MEM" "$RUN_EXTRA_MEM" "$RUN_TIMEOUT"; do
		[[ $value =~ ^[0-9]+$ ]] || lab_die "$value is not a number (--smp, --mem, --extra-mem, --timeout)"
	done
	case $RUN_KERNEL in
	stable | testing | debug | kcsan | series) ;;
	*) lab_die "no kernel $RUN_KERNEL: there are stable, testing, debug, kcsan and series" ;;
	esac
	[ -z "$RUN_SHARE" ] || [ -d "$RUN_SHARE" ] || lab_die "--share $RUN_SHARE: no such directory"
	[ -z "$RUN_PLUGIN" ] || [ -f "${RUN_PLUGIN%%,*}" ] || lab_die "--plugin ${RUN_PLUGIN%%,*}: no such file"
	root_require host guest "kernel-$RUN_KERNEL"
}

run_clean()
{
	trap '' INT TERM HUP
	if [ -n "$RUN_PID" ]; then
		kill "$RUN_PID" 2>/dev/null
		wait "$RUN_PID" 2>/dev/null
	fi
	[ -z "$RUN_RAM" ] || rm -f "$RUN_RAM"
	[ -z "$RUN_DIR" ] || rm -rf "$RUN_DIR"
	[ -z "${RUN_STTY:-}" ] || stty "$RUN_STTY" < /dev/tty
}

# Make the run's directory, and clear away what runs that were killed left.
run_prepare()
{
	local old

	mkdir -p "$LAB_BUILD" || lab_die "cannot write to $LAB_BUILD"
	for old in "$LAB_BUILD"/run.* /dev/shm/rvtrace-lab.*; do
		[ -O "$old" ] && [ ! -d "/proc/${old##*.}" ] && rm -rf "$old"
	done
	trap run_clean EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	RUN_DIR=$LAB_BUILD/run.$$
	mkdir "$RUN_DIR" || lab_die "cannot write to $LAB_BUILD"
}

# run_is_for_guest FILE: whether FILE is something of the host's to run in the guest: a script, or a
# RISC-V program.
run_is_for_guest()
{
	[ -f "$1" ] || return 1
	case $(head -c 20 "$1" | od -An -tx1 | tr -d ' \n') in
	2321*) return 0 ;;
	7f454c46????????????????????????????f300*) return 0 ;;
	*) return 1 ;;
	esac
}

# run_job SHELL: put the command into an archive that the kernel unpacks over the initramfs.
run_job()
{
	local job=$RUN_DIR/job/lab/job pair initrd

	mkdir -p "$job"
	install -m 755 "$LAB_DIR/guest/start" "$LAB_DIR/guest/share" "$RUN_DIR/job/lab/"
	[ -z "$RUN_SHARE" ] || : > "$job/share"
	[ -z "$1" ] || : > "$job/shell"
	: > "$job/env"
	for pair in ${RUN_ENV[@]+"${RUN_ENV[@]}"}; do
		printf "export %s='%s'\n" "${pair%%=*}" "${pair#*=}" >> "$job/env"
	done
	if [ -z "$1" ]; then
		run_command "$job"
	else
		stty size < /dev/tty | sed 's/\(.*\) \(.*\)/stty rows \1 cols \2/' >> "$job/env"
	fi
	initrd=$(image_initrd "$RUN_KERNEL") || exit
	cp "$initrd" "$RUN_DIR/initrd" || lab_die "cannot write to $RUN_DIR"
	(cd "$RUN_DIR/job" && find . | cpio --quiet -o -H newc -R 0:0) >> "$RUN_DIR/initrd"
}

# run_command JOB: the program that the guest starts.
run_command()
{
	[ ${#RUN_COMMAND[@]} -gt 0 ] || lab_die "run takes a script or a command for the guest"
	{
		echo '#!/bin/bash'
		if run_is_for_guest "${RUN_COMMAND[0]}"; then
			install -m 755 "${RUN_COMMAND[0]}" "$1/${RUN_COMMAND[0]##*/}" >&2
			printf 'exec'
			printf ' %q' "/lab/job/${RUN_COMMAND[0]##*/}" "${RUN_COMMAND[@]:1}"
		elif [ ${#RUN_COMMAND[@]} -eq 1 ]; then
			printf '%s' "${RUN_COMMAND[0]}"
		else
			printf '%q ' "${RUN_COMMAND[@]}"
		fi
		echo
	} > "$1/run"
	chmod 755 "$1/run"
}

# run_qemu ARGUMENT...: sets QEMU to the command that runs the lab's emulator.
run_qemu()
{
	local root loader lib

	root=$(root_path host)
	lib=$root/usr/lib/$(lab_host_triplet)
	loader=$(echo "$lib"/ld-linux*.so.*)
	[ -x "$loader" ] || lab_die "no loader in $lib: run tools/lab/lab setup --update"
	QEMU=(env -u LD_PRELOAD "QEMU_MODULE_DIR=$lib/qemu" "$loader" --library-path "$lib"
		"$root/usr/bin/qemu-system-riscv64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios")
	QEMU_BIOS=$root/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin
}

# run_machine: the part of the command line that decides the devicetree.
run_machine()
{
	local total=$((RUN_MEM + RUN_EXTRA_MEM)) free

	MACHINE=(-cpu "$RUN_CPU" -smp "$RUN_SMP" -m "${total}M" -bios "$QEMU_BIOS" -nodefaults -display none)
	MACHINE_TYPE=virt${RUN_MACHINE:+,$RUN_MACHINE}
	[ "$RUN_EXTRA_MEM" -gt 0 ] || return 0
	free=$(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
	if [ "${free:-0}" -ge "$total" ] && [ -w /dev/shm ]; then
		RUN_RAM=/dev/shm/rvtrace-lab.$$
	else
		RUN_RAM=$RUN_DIR/ram
	fi
	MACHINE+=(-object "memory-backend-file,id=ram,share=on,mem-path=$RUN_RAM,size=${total}M")
	MACHINE_TYPE+=,memory-backend=ram
}

# run_devicetree: the machine's own tree with Linux' memory cut to --mem, edited by --dtb-hook.
run_devicetree()
{
	local dts=$RUN_DIR/machine.dts dtb=$RUN_DIR/machine.dtb size

	[ "$RUN_EXTRA_MEM" -gt 0 ] || [ -n "$RUN_DTB_HOOK" ] || return 0
	"${QEMU[@]}" "${MACHINE[@]}" -M "$MACHINE_TYPE,dumpdtb=$dtb" > "$RUN_DIR/dumpdtb.log" 2>&1 ||
		lab_die "QEMU gives no devicetree: $(cat "$RUN_DIR/dumpdtb.log")"
	size=$((RUN_MEM << 20))
	fdtput -t x "$dtb" "/memory@${RUN_RAM_BASE#0x}" reg 0 "${RUN_RAM_BASE#0x}" \
		"$(printf %x $((size >> 32)))" "$(printf %x $((size & 0xffffffff)))" ||
		lab_die "the machine's devicetree has no memory node"
	if [ -n "$RUN_DTB_HOOK" ]; then
		dtc -q -I dtb -O dts -o "$dts" "$dtb" || lab_die "dtc cannot read the machine's devicetree"
		LAB_SMP=$RUN_SMP LAB_TRACE_BASE=$(printf 0x%x $((RUN_RAM_BASE + size))) \
			LAB_TRACE_SIZE=$(printf 0x%x $((RUN_EXTRA_MEM << 20))) \
			bash -c "$RUN_DTB_HOOK \"\$1\"" hook "$dts" >&2 || lab_die "--dtb-hook failed: $RUN_DTB_HOOK"
		dtc -q -I dts -O dtb -o "$dtb" "$dts" || lab_die "dtc cannot read what --dtb-hook made"
	fi
	MACHINE+=(-dtb "$dtb")
}

run_plugin()
{
	local plugin=$RUN_PLUGIN

	[ -n "$plugin" ] || return 0
	case $plugin in
	/*) ;;
	*) plugin=$PWD/$plugin ;;
	esac
	[ -z "$RUN_RAM" ] ||
		plugin+=,ram=$RUN_RAM,rambase=$RUN_RAM_BASE,ramsize=$(((RUN_MEM + RUN_EXTRA_MEM) << 20))
	MACHINE+=(-plugin "$plugin")
}

# run_devices: disk, channels of the command, shared folder, console.
run_devices()
{
	local image channel share

	image=$(root_path guest)/.lab/image.squashfs
	DEVICES=(-global virtio-mmio.force-legacy=false
		-blockdev "driver=file,node-name=disk,filename=$image,read-only=on,locking=off"
		-device "virtio-blk-device,drive=disk"
		-object "rng-builtin,id=rng" -device "virtio-rng-device,rng=rng"
		-chardev "file,id=console,path=$RUN_LOG" -serial chardev:console
		-add-fd "fd=3,set=1" -chardev "file,id=out,path=/dev/fdset/1,append=on"
		-add-fd "fd=4,set=2" -chardev "file,id=err,path=/dev/fdset/2,append=on"
		-chardev "file,id=status,path=$RUN_DIR/status" -device virtio-serial-device)
	for channel in out err status; do
		DEVICES+=(-device "virtserialport,chardev=$channel,name=lab.$channel")
	done
	if [ -n "$RUN_SHARE" ]; then
		share=$(cd "$RUN_SHARE" && pwd)
		DEVICES+=(-fsdev "local,id=share,path=$share,security_model=$SHARE_MODEL,multidevs=remap"
			-device "virtio-9p-device,fsdev=share,mount_tag=share")
	fi
}

# run_owner: root in the guest must own what is in the shared folder, whoever runs the lab here:
# stock perf refuses files of another owner. Sets OWNER, what the emulator runs behind (a user
# namespace where this user is root), and SHARE_MODEL. A machine without user namespaces keeps the
# guest's owners in files of the emulator's own, .virtfs_metadata.
run_owner()
{
	OWNER=()
	SHARE_MODEL=none
	[ "$(id -u)" -ne 0 ] || return 0
	if unshare -r true 2>/dev/null; then
		OWNER=(unshare -r)
	else
		SHARE_MODEL=mapped-file
	fi
}

# run_verdict STATUS: what a finished emulator, with exit status STATUS, means; exits.
run_verdict()
{
	local status

	status=$(cat "$RUN_DIR/status" 2>/dev/null)
	[ -z "$status" ] || exit "$status"
	if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
		run_fail "$LAB_EXIT_TIMEOUT" "no end within $RUN_TIMEOUT seconds"
	elif grep -q 'Kernel panic\|Internal error\|Oops' "$RUN_LOG" 2>/dev/null; then
		run_fail "$LAB_EXIT_PANIC" "the guest's kernel panicked"
	fi
	run_fail "$LAB_EXIT_FAILURE" "the guest ended without a result (QEMU's exit status $1)"
}

run_fail()
{
	lab_warn "$2; the end of its console:"
	tail -n 40 "$RUN_LOG" | tr -d '\r' >&2
	exit "$1"
}

# run_boot SHELL: make the command line of the emulator, in COMMAND.
run_boot()
{
	local image kernel

	run_prepare
	[ -n "$RUN_LOG" ] || RUN_LOG=$RUN_DIR/console.log
	: > "$RUN_LOG" || lab_die "cannot write the kernel log to $RUN_LOG"
	run_qemu
	run_machine
	run_devicetree
	run_plugin
	run_owner
	run_devices
	run_job "$1"
	kernel=$(root_path "kernel-$RUN_KERNEL")
	for image in "$kernel"/boot/vmlinu?-* "$kernel"/usr/lib/modules/*/vmlinu?; do
		[ -f "$image" ] && break
	done
	COMMAND=(${OWNER[@]+"${OWNER[@]}"} "${QEMU[@]}" "${MACHINE[@]}" -M "$MACHINE_TYPE" "${DEVICES[@]}" -no-reboot -kernel "$image"
		-initrd "$RUN_DIR/initrd" -append "console=ttyS0 panic=-1 oops=panic loglevel=7 $RUN_INITCALLS $RUN_APPEND"
		${RUN_QEMU_ARGS[@]+"${RUN_QEMU_ARGS[@]}"})
}

# run_emulator COMMAND...: run the emulator with the command's output on file descriptors 3 and 4.
# QEMU takes only files that are open for nothing but writing, and a terminal seldom is: hence
# pipes.
run_emulator()
{
	local out err status

	exec 3> >(exec cat)
	out=$!
	exec 4> >(exec cat >&2)
	err=$!
	if [ -n "${RUN_STTY:-}" ]; then
		"$@"
		status=$?
	else
		"$@" < /dev/null &
		RUN_PID=$!
		wait "$RUN_PID"
		status=$?
		RUN_PID=''
	fi
	exec 3>&- 4>&-
	wait "$out" "$err"
	return "$status"
}

cmd_run()
{
	run_options "$@"
	run_boot ''
	# Asked to end at the timeout, QEMU lets its plugins finish; it is killed only when it does
	# not.
	run_emulator timeout -k 20 "$RUN_TIMEOUT" "${COMMAND[@]}"
	run_verdict $?
}

# lab shell: as run, with a terminal in the guest.
cmd_shell()
{
	run_options "$@"
	[ -t 0 ] || lab_die "shell needs a terminal"
	run_boot shell
	RUN_STTY=$(stty -g < /dev/tty)
	stty raw -echo < /dev/tty
	run_emulator "${COMMAND[@]}" -chardev "stdio,id=tty,signal=off" -device "virtconsole,chardev=tty"
	run_verdict $?
}

# lab qemu ARGUMENT...: the emulator itself.
cmd_qemu()
{
	root_require host
	run_qemu
	exec "${QEMU[@]}" "$@"
}
