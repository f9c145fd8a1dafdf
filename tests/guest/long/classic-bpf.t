#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Classic BPF, compiled: filters of system calls (seccomp) and of sockets, of a program that was there
# before the recording and ends in it, of one that comes and goes, and of one that is there at the
# end. What was decoded is what was executed, all of it.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workload" workload classic
for kernel in stable testing; do
	# shellcheck disable=SC2016 # expands in the guest
	guest $kernel $kernel '' '
		insmod rvtrace.ko || exit 1
		sysctl -q -w net.core.bpf_jit_enable=1
		mkfifo /tmp/before /tmp/last
		classic 50 /tmp/before &
		sleep 1
		cat > steps <<-"END"
			echo > /tmp/before
			classic 70
			classic 90 /tmp/last &
			sleep 0.3
		END
		perf-rvtrace record -a -m 2M,32M -o perf.data -- sh steps || exit 2
		echo > /tmp/last'
	ok $? "$kernel: programs with filters are recorded"
	if ! grep -qa raw_tp/module_load "$dir/share/perf-rvtrace"; then
		echo "# built without clang: such code is not recorded"
		continue
	fi
	check "$kernel: no code is missing" sh -c "'$HOST/perf-rvtrace' stat --strict \
		-i '$dir/share/perf.data' --symfs '$dir/share:$("$LAB" path guest)'"
	check "$kernel: what was decoded is what was executed" \
		equals_truth "$dir/share/perf.data" --min 1000000
	"$HOST/perf-rvtrace" report -i "$dir/share/perf.data" -s comm,dso \
		--symfs "$dir/share:$("$LAB" path guest)" >"$dir/report" 2>/dev/null
	check "$kernel: BPF ran in it" awk '/classic.*bpf/ { n += $2 } END { exit n < 1000 }' "$dir/report"
done
done_testing
