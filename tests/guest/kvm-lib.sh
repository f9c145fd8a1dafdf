# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# shellcheck disable=SC2154 # of lib.sh
# For tests with a guest of KVM: workloads/vmm.c and vmm-guest.S are the virtual machine.

# kvm_programs: what guest() takes along. Two tests.
kvm_programs()
{
	check "cross-compile the virtual machine monitor" workload vmm -static
	check "cross-compile its guest" "$LAB" cross-cc -nostdlib -static \
		-Wl,-Ttext=0x80000000,--build-id=none,--nmagic,--no-warn-rwx-segments \
		-o "$guest_bin/vmm-guest" "$TOP/tests/guest/workloads/vmm-guest.S"
}

# kvm_module KERNEL: a copy of the kernel's module
kvm_module()
{
	xz -dc "$("$LAB" path "kernel-$1")"/usr/lib/modules/*/kernel/arch/riscv/kvm/kvm.ko.xz \
		>"$guest_bin/kvm.ko"
}

# kvm_etrace_params: writes $guest_bin/etrace-guests, E-Trace whose packets have 3 bits for the privilege
# mode, which a guest's modes need
kvm_etrace_params()
{
	{
		cat "$TOP/tools/model/params/etrace-2.0"
		echo "privilege_width_p = 3"
	} >"$guest_bin/etrace-guests"
}
