#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# How long interrupts are off in the debug kernel while the driver starts, stops and copies AUX
# buffers of 4 MiB: by the kernel's irqsoff tracer, which has only the longest section of all, and by
# the events that it is made of, which have each. The clock counts instructions, each of which takes
# 1 ns. Sections are whole: they begin and end in the kernel, and what KASAN, lockdep and the tracer
# execute is in them, too. What the driver does alone has its bound in irqs-off.t.
. "$(dirname "$0")/../lib.sh"

"$LAB" debug-kernel >"$TOP/build/guest/debug-kernel.log" 2>&1 ||
	skip_all "no debug kernel: $(tail -n 1 "$TOP/build/guest/debug-kernel.log")"
. "$(dirname "$0")/../driver-lib.sh"

MOST_US=300
keep_truth=
lab_options='--smp 1 --mem 2048 --qemu-arg -icount --qemu-arg shift=0,sleep=off'
GUEST_TIMEOUT=${GUEST_TIMEOUT:-1800}

# sections: of the events in the guest's trace, the longest section with interrupts off that has one
# of the driver's events, and their number: "US N EVENT...", by the events in it.
sections()
{
	awk 'match($0, / [0-9]+\.[0-9]+: /) {
			now = substr($0, RSTART + 1, RLENGTH - 3) * 1e6
			what = substr($0, RSTART + RLENGTH)
			sub(/:.*/, "", what)
			if (what == "irq_disable") {
				since = now; off = 1; events = ""
			} else if (what == "irq_enable") {
				if (off && events != "") {
					n[events]++
					if (now - since > most[events])
						most[events] = now - since
				}
				off = 0
			} else if (what ~ /^rvtrace_/ && off && !index(events, what)) {
				events = events " " what
			}
		}
		END { for (events in most) printf "%.0f %d%s\n", most[events], n[events], events }' \
		"$dir/share/trace" | sort -rn
}

# seen EVENT N: at least N sections had it.
seen()
{
	awk -v event="$1" -v least="$2" 'index($0, event) { n += $2 } END { exit n < least }' "$dir/sections"
}

# within: of the sections that are there for the driver. In one with nothing but rvtrace_context the
# scheduler switches tasks.
within()
{
	sed 's/^/# us, times: /' "$dir/sections"
	awk -v most=$MOST_US '!/^[0-9]+ [0-9]+ rvtrace_context$/ { n++; bad += $1 > most }
		END { exit bad || !n }' "$dir/sections"
}

# complete: no event of the guest's trace was overwritten.
complete() { grep -qE '^# entries-in-buffer/entries-written: ([0-9]+)/\1 ' "$dir/share/trace"; }

# not_the_longest: irqsoff's longest section is not the driver's.
not_the_longest()
{
	sed -n 's/^#  => /# longest of the kernel: /p' "$dir/share/irqsoff"
	sed 's/^/# us: /' "$dir/share/longest"
	grep -q '^# tracer: irqsoff' "$dir/share/irqsoff" && ! grep -q 'rvtrace_' "$dir/share/irqsoff"
}

check "the driver is built for it" make -s -C "$TOP" build/driver/debug/rvtrace.ko
for topology in direct funnel; do
	hook_options="--topology $topology"
	# shellcheck disable=SC2016 # for the guest
	guest $topology debug "clock=insns,topology=$topology" 'insmod rvtrace.ko || exit 1
		mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
		T=/sys/kernel/tracing
		echo "seq 1 4000 | sort -R | sort -n | gzip -c > /dev/null" > work
		record()
		{
			perf-rvtrace record -q -m ,4M -o /tmp/data -a -- sh -c "$1; sh work; $2" || exit 3
			rm /tmp/data
		}
		echo irqsoff > $T/current_tracer || exit 4
		record "echo 0 > $T/tracing_max_latency" "echo 0 > $T/tracing_on"
		cat $T/tracing_max_latency > longest
		cat $T/trace > irqsoff
		echo nop > $T/current_tracer
		echo 65536 > $T/buffer_size_kb
		echo 1 > $T/events/preemptirq/enable && echo 1 > $T/events/rvtrace/enable || exit 5
		echo > $T/trace
		record "echo 1 > $T/tracing_on" "echo 0 > $T/tracing_on"
		cat $T/trace > trace
		cat /sys/bus/rvtrace/devices/ramsink-*/copied_bytes > copied
		rmmod rvtrace'
	ok $? "$topology: all of the kernel's sections with interrupts off were traced"
	check "$topology: no event is missing" complete
	sections >"$dir/sections"
	check "$topology: the longest of all is not the driver's" not_the_longest
	check "$topology: those in which it empties a sink are seen" seen rvtrace_drain 4
	check "$topology: those in which it says who runs are seen" seen rvtrace_context 100
	check "$topology: none in which it starts, stops or empties a sink takes longer than $MOST_US us" within
	[ $topology = direct ] || check "$topology: trace was copied" \
		awk '{ sum += $1 } END { exit sum < 1048576 }' "$dir/share/copied"
	check "$topology: no complaint of the kernel" quiet "$dir/console"
done
done_testing
