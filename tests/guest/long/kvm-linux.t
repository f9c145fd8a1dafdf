#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Linux as a guest of KVM, traced from the host in N-Trace and E-Trace: what was decoded is what was
# executed, with the code of the guest's kernel as it is while it runs, for Linux changes its own
# code. With its file, other flow is decoded, and that is said. workloads/vmm.c is the virtual machine, linux-guest.c its only
# program.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../kvm-lib.sh"

link=0xffffffff80000000	# where Linux is without KASLR
lab_options="--cpu rv64,h=true"

check "cross-compile the virtual machine monitor" workload vmm -static
check "cross-compile the guest's program" workload linux-guest -static
mkdir -p "$guest_bin/root"
mv "$guest_bin/linux-guest" "$guest_bin/root/init"
(cd "$guest_bin/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$guest_bin/initrd"
rm -r "$guest_bin/root"
sed "s/INITRD_END/$((0x89100000 + $(stat -c %s "$guest_bin/initrd")))/" \
	"$TOP/tests/guest/workloads/linux-guest.dts" | dtc -q -O dtb -o "$guest_bin/dtb"
ok $? "its devicetree"
cp "$("$LAB" path kernel-testing)"/usr/lib/modules/*/vmlinuz "$guest_bin/image"
kvm_etrace_params

# core NAME: share/NAME.core has share/NAME at the kernel's addresses, as a copy of /proc/kcore has
core()
{
	printf '.globl _start\n_start:\n.incbin "%s"\n' "$dir/share/$1" |
		"$LAB" cross-cc -nostdlib -static -Wl,-Ttext=$link,--build-id=none,--nmagic \
			-Wl,--no-warn-rwx-segments -x assembler -o "$dir/share/$1.core" - &&
		printf '\4' | dd of="$dir/share/$1.core" bs=1 seek=16 conv=notrunc status=none
}

# flow RECORDING CODE: one line per instruction
flow()
{
	raw_pc "$dir/share/$1.data" --guestvmlinux "$dir/share/$2.core" 2>"$dir/flow.err"
}

# equal NAME: with the guest's code as it runs; "#" lines are places where flow is lost
equal()
{
	flow "$1" kernel >"$dir/flow"
	"$HOST/rvt-truth-diff" --lossy --min 1000000 "$dir/truth" <"$dir/flow"
}

# recorded WHAT KERNEL MODEL
recorded()
{
	# shellcheck disable=SC2016 # expands in the guest
	GUEST_TIMEOUT=900 guest "$2" "$2" "$3" '
		sysctl -q -w net.core.bpf_jit_enable=1
		insmod rvtrace.ko && insmod kvm.ko || exit 1
		./vmm linux image dtb initrd /tmp/memory > said 2>&1 &
		vmm=$!
		until grep -q "guest: begins" said; do kill -0 $vmm || exit 2; sleep 0.2; done
		perf-rvtrace record -q -a -m ,32M -o /tmp/both.data -- sleep 0.3 || exit 3
		perf-rvtrace record -q -a -m ,32M -o /tmp/guests.data -e rvtrace//G -- sleep 0.3 || exit 4
		mv /tmp/both.data /tmp/guests.data .
		dd if=/tmp/memory of=kernel bs=1M skip=2 count='"$(($(stat -c %s "$guest_bin/image") >> 20))"' 2> /dev/null
		kill $vmm'
	ok $? "$1: a Linux guest is recorded"
	check "$1: its kernel's code as it runs" core kernel
	for name in both guests; do
		equal $name >"$dir/equal" 2>&1
		ok_or_show $? "$1: $name: the flow is what was executed" "$dir/equal"
		grep '^equal' "$dir/equal" | sed 's/^/# /'
		[ "$(awk '!/^#/ && $3 == "VS" { n++ } END { print n + 0 }' "$dir/flow")" -gt 1000000 ]
		ok $? "$1: $name: a million instructions of the guest's kernel"
		is "$1: $name: only programs of the guest are lost" 0 \
			"$(awk '/^# lost/ && length($6) > 10 && !/there was no code/ { n++ }
				END { print n + 0 }' "$dir/flow")"
	done
	check "$1: that is said" grep -q "has not all of the guests' code" "$dir/flow.err"
	check "$1: its kernel's code as in the file" core image
	flow both image >/dev/null
	check "$1: that this code is another one is said" \
		grep -q 'contradicts --guestvmlinux' "$dir/flow.err"
	# The host has the same kernel, at the same addresses, in the first scene.
	[ "$2" != testing ] || {
		raw_pc "$dir/share/both.data" --vmlinux "$dir/share/image.core" >/dev/null 2>"$dir/flow.err"
		check "$1: the same is said of the host's kernel" \
			grep -q 'contradicts --vmlinux' "$dir/flow.err"
	}
	check "$1: the driver kept to the rules" no_violations
}

for kernel in testing stable; do
	kvm_module $kernel
	case $kernel in
	testing) hook_options='' recorded "N-Trace" $kernel '' ;;
	stable) hook_options="--params $guest_bin/etrace-guests" recorded "E-Trace" $kernel \
			"formats=etrace,etrace=$guest_bin/etrace-guests" ;;
	esac
done
rm -rf "$guest_bin"
done_testing
