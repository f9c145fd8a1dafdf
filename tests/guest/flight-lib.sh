# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests of flight mode, after lib.sh: guests whose kernel panics, and what `perf rvtrace crash`
# says of them.

# skip_rest REASON: what follows needs something that is not here.
skip_rest()
{
	skip "dumps of crashed machines" "$1"
	done_testing
	exit 0
}

# What the model may complain of: components that the hart that panics cannot stop, which are left as
# they are (a regular expression).
crash_left_on=

crash_disabled()
{
	[ "$crash_left_on" ] || { no_violations; return; }
	! grep -vE "^($crash_left_on)\$" "$dir/violations"
}

# crash NAME KERNEL MODEL-ARGS PARAMETERS COMMANDS: a guest in flight mode runs these commands and
# panics. Its memory is in $crash_core then, the symbols of all modules in $dir/share/kallsyms.
crash()
{
	local name=$1 kernel=$2 model=$3 parameters=$4 commands=$5 sockets

	sockets=$(mktemp -d)
	dir=$TOP/build/guest/$test_name-$name
	crash_core=$TOP/build/guest/$test_name-$name.vmcore
	rm -f "$crash_core"
	"$TOP/tests/guest/dump-memory" "$sockets/qmp" "$crash_core" >"$sockets/log" 2>&1 &
	lab_options="--qemu-arg -action --qemu-arg shutdown=pause
		--qemu-arg -qmp --qemu-arg unix:$sockets/qmp,server=on,wait=off"
	# The symbols take hundreds of millions of instructions: they are written before the trace.
	guest "$name" "$kernel" "$model" "insmod rvtrace.ko $parameters || exit 1
		cat /proc/kallsyms > kallsyms
		echo 1 > /sys/module/rvtrace/parameters/flight || exit 1
		grep -L tracing /sys/bus/rvtrace/devices/encoder-*/state > untraced
		$commands
		sync
		echo c > /proc/sysrq-trigger
		exit 2" 2>/dev/null
	is "$name: the kernel panics" 123 $?
	wait $!
	ok_or_show $? "$name: the emulator writes a dump" "$sockets/log"
	rm -rf "$sockets"
	lab_options=
	is "$name: each hart traced" "" "$(cat "$dir/share/untraced")"
	check "$name: all components that it can reach are disabled" crash_disabled
}

# flow_is_the_end CPU: what was decoded of the hart ends with the last run of instructions that its
# encoder traced, by the model. With $flow_exact all of it is compared with the end of the truth: the
# comparison with gaps, which is much faster, does not see a piece that is missing in the middle.
flow_exact=
flow_is_the_end()
{
	local cpu=$1 addr count

	awk -v cpu="$cpu" '$1 == cpu { print $4 }' "$dir/raw" >"$dir/flow.$cpu"
	if [ "$flow_exact" ]; then
		"$HOST/rvt-truth" --pc --traced "$dir/truth/truth.$cpu" |
			tail -n "$(wc -l <"$dir/flow.$cpu")" | cmp - "$dir/flow.$cpu"
		return
	fi
	read -r _ addr _ count < <("$HOST/rvt-truth" --traced "$dir/truth/truth.$cpu" | tail -n 1)
	[ "$addr" = "$(tail -n "$count" "$dir/flow.$cpu" | head -n 1)" ] && return
	echo "the truth ends with $count instructions from $addr on, what was decoded with"
	tail -n 3 "$dir/flow.$cpu"
	return 1
}

# crash_is_right NAME MIN [CPU...]: the flow of these harts (0 and 1), MIN instructions or more in
# all, is that of the model, up to the end. $crash_status is the command's: 1 when something is lost.
crash_status=0
crash_is_right()
{
	local name=$1 min=$2 cpu
	shift 2

	"$HOST/perf-rvtrace" crash --last 0 --raw-pc "$crash_core" >"$dir/raw" 2>"$dir/errors"
	is "$name: it says whether something is lost" $crash_status $?
	is "$name: nothing is wrong" "" "$(cat "$dir/errors")"
	check "$name: the flow equals the truth" "$HOST/rvt-truth-diff" --lossy --min "$min" "$dir/truth" <"$dir/raw"
	[ $# -gt 0 ] || set -- 0 1
	for cpu; do
		check "$name: the flow of CPU $cpu goes up to the panic" flow_is_the_end "$cpu"
	done
}

# head_of CPU: what the command says of it.
head_of()
{
	"$HOST/perf-rvtrace" crash --last 1 -C "$1" "$crash_core" | grep "^# CPU"
}

# crash_job INITRD: an initramfs for the kernel after the crash, of that which the lab has made for
# the kernel: it copies the dump into the shared folder.
crash_job()
{
	local initrd=$1 job

	job=$(mktemp -d)
	mkdir -p "$job/lab/job"
	install -m 755 "$TOP/tools/lab/guest/start" "$TOP/tools/lab/guest/share" "$job/lab/"
	: >"$job/lab/job/share"
	: >"$job/lab/job/env"
	printf '#!/bin/bash\ncp /proc/vmcore vmcore.part && mv vmcore.part vmcore && sync\n' >"$job/lab/job/run"
	chmod 755 "$job/lab/job/run"
	cat "$initrd"
	(cd "$job" && find . | cpio --quiet -o -H newc -R 0:0)
	rm -rf "$job"
}

# Self-tests and certificates that cost seconds
crash_initcalls=initcall_blacklist=load_system_certificate_list,jent_mod_init

# crash_kdump NAME KERNEL MODEL-ARGS APPEND COMMANDS: as crash(), but a second kernel that was waiting
# for the panic writes the dump. APPEND: more of the first kernel's command line.
crash_kdump()
{
	local name=$1 kernel=$2 model=$3 append=$4 commands=$5 image root

	root=$("$LAB" path "kernel-$kernel")
	for image in "$root"/boot/vmlinu?-* "$root"/usr/lib/modules/*/vmlinu?; do
		[ ! -f "$image" ] || break
	done
	mkdir -p "$guest_bin"
	workload kdump -static || return
	cp "$image" "$guest_bin/Image"
	crash_job "$TOP/build/lab/initrd-$kernel.cpio" >"$guest_bin/initrd"
	lab_options="--mem 512 --append crashkernel=192M${append:+ --append $append}"
	guest "$name" "$kernel" "$model" "insmod rvtrace.ko flight=1 || exit 1
		cat /proc/kallsyms > kallsyms
		./kdump Image initrd 'console=ttyS0 panic=-1 nr_cpus=1 cma=0 earlycon=sbi $crash_initcalls' || exit 3
		$commands
		sync
		echo c > /proc/sysrq-trigger
		exit 2"
	is "$name: the kernel after the crash copies /proc/vmcore" 0 $?
	rm -f "$guest_bin/Image" "$guest_bin/initrd" "$dir/share/Image" "$dir/share/initrd"
	lab_options=
	crash_core=$dir/share/vmcore
	check "$name: it is the second kernel that did so" grep -q "Kernel panic - not syncing: sysrq" "$dir/console"
}
