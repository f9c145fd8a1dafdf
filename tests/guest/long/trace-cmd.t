#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# trace-cmd shows the driver's tracepoints in words, with the plugin of libtraceevent. The guest has
# no trace-cmd: it leaves what one needs, the formats of the events and the buffers as they are.
. "$(dirname "$0")/../lib.sh"

if ! command -v trace-cmd >/dev/null || ! pkg-config --exists libtraceevent; then
	echo "1..0 # SKIP no trace-cmd, or no libtraceevent: apt-get install trace-cmd libtraceevent-dev"
	exit 0
fi
check "the plugin is built" make -s -C "$TOP" traceevent-plugin
# shellcheck disable=SC2016 # expands in the guest
guest main testing '' '
	insmod rvtrace.ko || exit 1
	t=/sys/kernel/tracing
	mount -t tracefs tracefs $t 2> /dev/null
	mkdir -p tracing/events
	echo 1 > $t/events/rvtrace/enable
	perf-rvtrace record -o perf.data -- true || exit 2
	echo 0 > $t/events/rvtrace/enable
	cp -r $t/events/ftrace $t/events/rvtrace $t/events/header_page $t/events/header_event tracing/events/ 2> /dev/null
	cp $t/printk_formats $t/saved_cmdlines $t/trace_clock tracing/ 2> /dev/null
	cat /proc/kallsyms > kallsyms
	for cpu in 0 1; do
		timeout 3 cat $t/per_cpu/cpu$cpu/trace_pipe_raw > cpu$cpu
	done
	true'
ok $? "a recording is watched by its tracepoints"
cd "$dir/share" || exit 1
check "trace-cmd takes the formats" trace-cmd restore -c -t tracing -k kallsyms -o head.dat
check "trace-cmd takes the buffers" trace-cmd restore -i head.dat -o trace.dat cpu0 cpu1
mkdir plugins && cp "$TOP/build/host/plugin_rvtrace.so" plugins
TRACEEVENT_PLUGIN_DIR=$PWD/plugins trace-cmd report -i trace.dat >report 2>&1
check "the start of the trace, in words" \
	grep -E 'rvtrace_start: +cpu [01] starts into sink [0-9]+$' report
check "its end" grep -E 'rvtrace_stop: +cpu [01] stops into sink [0-9]+' report
check "what the sink gave" grep -E 'rvtrace_drain: +sink [0-9]+ gives [0-9]+ (bytes|KiB)' report
trace-cmd report -N -i trace.dat >plain 2>&1
check "without the plugin they are numbers" grep -E 'rvtrace_start: .*ret=0' plain
done_testing
