#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Flight mode and kdump: the kernel panics, the one that waited for that copies /proc/vmcore, and the
# flow of each hart up to the panic equals the truth.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../flight-lib.sh"
flow_exact=yes
GUEST_TIMEOUT=1200

# kdump KERNEL APPEND: one such crash
kdump()
{
	local kernel=$1

	# The lab makes the initramfs of a kernel when that is booted.
	"$LAB" run --kernel "$kernel" -- true
	crash_kdump "kdump-$kernel" "$kernel" '' "$2" 'ls -lR /usr/bin > /dev/null'
	crash_is_right "kdump-$kernel" 100000
	"$HOST/perf-rvtrace" crash --kallsyms "$dir/share/kallsyms" "$crash_core" >"$dir/printed"
	check "kdump-$kernel: the flow goes through the kernel's panic" grep -q ' v\?panic+0x[0-9a-f]* ' "$dir/printed"
	check "kdump-$kernel: it names the kernel by its build id" grep -q '^# kernel [67].*, build id [0-9a-f]\{40\}' "$dir/printed"
	rm -f "$crash_core"
}

# Debian's 6.12 takes no kprobe, by which the driver would know of the crash.
kdump stable crash_kexec_post_notifiers
kdump testing ''
rm -rf "$guest_bin"
done_testing
