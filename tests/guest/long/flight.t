#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Flight mode and kdump: the kernel panics, the one that waited for that copies /proc/vmcore, and the
# flow of each hart up to the panic equals the truth. And on SpacemiT's K3, where nobody but its own
# hart can stop an encoder.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../flight-lib.sh"
flow_exact=yes
GUEST_TIMEOUT=1200

# kdump KERNEL APPEND [NAME MODEL-ARGS]: one such crash
kdump()
{
	local kernel=$1 name=kdump-${3:-$1}

	# The lab makes the initramfs of a kernel when that is booted.
	"$LAB" run --kernel "$kernel" -- true
	crash_kdump "$name" "$kernel" "${4:-}" "$2" 'ls -lR /usr/bin > /dev/null'
	crash_is_right "$name" 100000
	"$HOST/perf-rvtrace" crash --kallsyms "$dir/share/kallsyms" "$crash_core" >"$dir/printed"
	check "$name: the flow goes through the kernel's panic" grep -q ' v\?panic+0x[0-9a-f]* ' "$dir/printed"
	check "$name: it names the kernel by its build id" grep -q '^# kernel [67].*, build id [0-9a-f]\{40\}' "$dir/printed"
	rm -f "$crash_core"
}

# Debian's 6.12 takes no kprobe, by which the driver would know of the crash.
kdump stable crash_kexec_post_notifiers
kdump testing ''
# The kernel after the crash must not see what caches have of the buffers.
hook_options=--noncoherent
kdump testing '' noncoherent coherent=off
check "kdump-noncoherent: nothing is read from a cache, or written over by one" no_violations
rm -rf "$guest_bin"

# The hart that panics cannot stop the other's encoder and bridge, so it leaves on what they send to,
# and stops the sink only.
command -v python3 >/dev/null || skip_rest "there is no python3 to ask the emulator for a dump"
flow_exact=
hook_options='--topology k3-etr'
off='still enabled when the machine was turned off'
crash_left_on="encoder 1: $off|atb 1: $off|funnel 0: $off|CoreSight funnel 0: $off|ETF 0: $off"
crash_left_on+="|ETR 0: stopped before what feeds it|ETF 0: there is no room behind it"
crash k3 testing topology=k3-etr,own-hart=on,modes=3,sync-modes=2,warl-features=0xffff0000 \
	flight_buffer=262144 'taskset 2 ls -lR /usr/bin > /dev/null
	taskset -pc 0 $$
	ls -lR /usr/bin > /dev/null'
crash_status=1
crash_is_right k3 10000 0
check "k3: it says that the end of the other hart is missing" \
	grep -q "what it executed last is missing" <(head_of 1)
check "k3: nothing of the one that panicked is" sh -c '! grep -q missing' < <(head_of 0)
rm -f "$crash_core"
done_testing
