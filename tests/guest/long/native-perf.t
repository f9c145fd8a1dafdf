#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf records and decodes: what it says was executed is what was,
# instruction by instruction, by target and protocol. PARTS="E-Trace-chosen N-Trace-kernel" runs
# these parts only: a protocol, and chosen, plain, cpu, users or kernel; or tests, recorder-6.12.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"

native_built || skip_all "$native_missing"
check "cross-compile the workload" workload threads
native_guest_programs

part()
{
	[[ -z ${PARTS-} || " $PARTS " == *" $1 "* ]]
}

# chosen_threads NAME MODEL-ARGS: recordings of chosen threads, in one guest, against the truth.
chosen_threads()
{
	local name=$1 model=$2

	guest "$name" testing "$model" "
		$native_in_guest
		cat > script <<-'END'
			for i in 1 2 3; do
				n=\$(expr \$i \* 11)
				echo \$n | sed s/5/five/ | tr a-z A-Z
				(cd / && ls -d bin) | wc -c
			done
		END
		record one -e rvtrace//u -- sort input || exit 2
		sort -c one.out || exit 3
		record threads -e rvtrace//u -- threads || exit 4
		record script -e rvtrace//u -- sh script || exit 5
		record per-thread --per-thread -e rvtrace//u -- sort input || exit 6
		record snapshot -Se -m ,64K -e rvtrace//u -- sort input || exit 7
		rmmod rvtrace"
	ok $? "$name: perf records" || return
	# shellcheck disable=SC2046 # these are words
	{
		check "$name: one program" native_equals_truth one --min 100000 $(native_threads one)
		check "$name: four threads" native_equals_truth threads --min 100000 $(native_threads threads)
		check "$name: a script that forks and executes" \
			native_equals_truth script --min 1000000 $(native_threads script)
		check "$name: by thread" native_equals_truth per-thread --min 100000 $(native_threads per-thread)
	}
	check "$name: perf rvtrace reads it, too: one program" native_same one
	check "$name: perf rvtrace reads it, too: a script" native_same script
	check "$name: a snapshot at the end" native_equals_truth snapshot --lossy --min 10000
	check "$name: no rule of the control interface was broken" no_violations
}

# matrix NAME MODEL-ARGS: recordings of each target in guests. What is not of chosen threads, or does
# not say of which it is, has a guest of its own.
matrix()
{
	local name=$1 model=$2 what min options command

	part "$name-chosen" && chosen_threads "$name" "$model"
	# Of one CPU what happens on others is not in the sideband, such as an exec.
	while read -r what min options command; do
		options=${options//,/ }
		options=${options//;/,}
		part "$name-$what" || continue
		guest "$name-$what" testing "$model" "
			$native_in_guest
			[ $what != cpu ] || taskset -p 2 \$\$
			record $what $options -m 8M,64M -- $command || exit 2"
		ok $? "$name: perf records: $what" || continue
		check "$name: $what" native_equals_truth "$what" --min "$min"
	done <<-'END'
		plain 100000 -e,rvtrace/timestamp=0;context=0/u sort input
		cpu 10000 -C,1,-e,rvtrace//u sort input
		users 100000 -a,-e,rvtrace//u sh -c 'sort input | gzip -c > /dev/null'
		kernel 1000000 -a,--kcore,-e,rvtrace// sh -c 'ls -lR /etc | sort | gzip -c > /dev/null'
	END
}

matrix N-Trace ''
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
matrix E-Trace "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"

if part tests; then
	hook_options=
	native_tests tests testing ''
fi

# Where `make perf ARCH=riscv PERF_VERSION=6.12` was run: it records on its kernel, perf above decodes.
recorder=$native_riscv-6.12/bin/perf
if [ -x "$recorder" ] && part recorder-6.12; then
	cp "$recorder" "$guest_bin/native-perf"
	hook_options=
	guest recorder-6.12 stable '' "
		$native_in_guest
		record one -e rvtrace//u -- sort input || exit 2
		record script -e rvtrace//u -- sh -c 'sort input | head -n 3; (cd / && ls -d bin)' || exit 3
		record per-thread --per-thread -e rvtrace//u -- sort input || exit 4"
	ok $? "6.12: perf records"
	for what in one script per-thread; do
		# shellcheck disable=SC2046 # these are words
		check "6.12: $what" native_equals_truth $what --min 100000 $(native_threads $what)
	done
fi
done_testing
