#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf records and decodes: what it says was executed is what was,
# instruction by instruction, by target and protocol.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"

native_built || skip_all "$native_missing"
check "cross-compile the workload" workload threads
native_guest_programs

# matrix NAME MODEL-ARGS: recordings of each target in a guest, and each against the truth.
matrix()
{
	local name=$1

	guest "$name" testing "$2" "
		$native_in_guest
		seq 1 2000 | awk '{ print (\$1 * 7919) % 100003, \"word\" \$1 }' > input
		cat > script <<-'END'
			for i in 1 2 3; do
				n=\$(expr \$i \* 11)
				echo \$n | sed s/5/five/ | tr a-z A-Z
				(cd / && ls -d bin) | wc -c
			done
		END
		record() { file=\$1; shift; native-perf record -o \$file.data \"\$@\" > \$file.out 2> \$file.log; }
		record one -e rvtrace//u -- sort input || exit 2
		sort -c one.out || exit 3
		record threads -e rvtrace//u -- threads || exit 4
		record script -e rvtrace//u -- sh script || exit 5
		record plain -e rvtrace/timestamp=0,context=0/u -- sort input || exit 6
		record per-thread --per-thread -e rvtrace//u -- sort input || exit 7
		record snapshot -Se -m ,64K -e rvtrace//u -- sort input || exit 8
		record cpu -C 1 -e rvtrace//u -- taskset 1 sort input || exit 9
		record users -a -e rvtrace//u -m ,16M -- sh -c 'sort input | gzip -c > /dev/null' || exit 10
		record kernel -a --kcore -e rvtrace// -m ,64M -- sh -c 'ls -lR /etc | sort | gzip -c > /dev/null' || exit 11
		rmmod rvtrace"
	ok $? "$name: perf records" || return
	check "$name: one program" native_equals_truth one --min 100000
	check "$name: four threads" native_equals_truth threads --min 100000
	check "$name: a script that forks and executes" native_equals_truth script --min 1000000
	check "$name: without time stamps and Ownership" native_equals_truth plain --min 100000
	check "$name: by thread" native_equals_truth per-thread --min 100000
	check "$name: a snapshot at the end" native_equals_truth snapshot --lossy --min 10000
	check "$name: one CPU" native_equals_truth cpu --min 10000
	check "$name: all CPUs, user code" native_equals_truth users --min 1000000
	check "$name: all CPUs, with the kernel" native_equals_truth kernel --min 1000000
	check "$name: no rule of the control interface was broken" no_violations
}

matrix N-Trace ''
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
matrix E-Trace "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
done_testing
