#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Flight mode: each hart traces all the time, and a dump of the machine's memory has what led to the
# kernel's panic. The dump is made by the emulator here; long/flight.t has those of kdump.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/driver-lib.sh"
. "$(dirname "$0")/flight-lib.sh"

for kernel in stable testing; do
	selftests $kernel $kernel own-hart=on flight
done
# Linux' CPU 0 is the second hart, and ramsink-0 the sink of CPU 1.
hook_options='--boot-hart 1'
selftests second-first testing own-hart=on flight
hook_options='--topology funnel'
selftests funnel testing topology=funnel flight
hook_options=
selftests sram stable own-hart=on,sram=65536,smem=off flight

command -v python3 >/dev/null || skip_rest "there is no python3 to ask the emulator for a dump"
crash panic testing '' flight_buffer=65536 'ls -lR /usr/bin > /dev/null'
crash_is_right panic 20000
for cpu in 0 1; do
	check "panic: the buffer of CPU $cpu is full" grep -q " in 65536 bytes" <(head_of $cpu)
done
check "panic: it names the hart that panicked" grep -q "which panicked" <(head_of 0; head_of 1)
# Symbols are those that the dump has of its kernel; those of modules come with kallsyms.
"$HOST/perf-rvtrace" crash --last 2000000 "$crash_core" >"$dir/symbols"
check "panic: the flow goes through the kernel's panic" grep -q ' vpanic+0x[0-9a-f]* (\[kernel.kallsyms\])$' "$dir/symbols"
"$HOST/perf-rvtrace" crash --last 2000000 --kallsyms "$dir/share/kallsyms" "$crash_core" >"$dir/kallsyms"
check "panic: it ends where the driver stops the trace" grep -q '(\[rvtrace\])$' "$dir/kallsyms"
is "panic: both know the same functions of the kernel" "" \
	"$(diff <(grep -F '[kernel.kallsyms]' "$dir/symbols") <(grep -F '[kernel.kallsyms]' "$dir/kallsyms") | head -n 3)"
rm -f "$crash_core"

# Harts that share a sink: one buffer has the trace of both.
hook_options='--topology funnel'
crash funnel testing topology=funnel flight_buffer=65536 'ls -lR /usr/bin > /dev/null'
crash_is_right funnel 10000
check "funnel: both harts are in a buffer that is full" \
	test "$({ head_of 0; head_of 1; } | grep -c ' [1-9][0-9]* instructions in 65536 bytes')" -eq 2
rm -f "$crash_core"
hook_options=

# Sinks with a memory of their own: that of a hart that is down when the kernel panics, and one that
# an event has used just before that.
mkdir -p "$guest_bin"
cp "$TOP/build/selftests/flight" "$guest_bin/selftest-flight"
crash sram testing sram=262144,smem=off '' 'sync
	selftest-flight crash
	exit 3'
crash_status=1
crash_is_right sram 10000
check "sram: an event took the place of what was there" grep -q "had to drop" <(head_of 0)
check "sram: the whole memory of the other hart was read out" grep -q " in 262144 bytes of trace$" <(head_of 1)
rm -rf "$guest_bin" "$crash_core"
done_testing
