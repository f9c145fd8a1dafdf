#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf: ways to record beside those of native-perf.t, and commands that
# do not record.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"

native_built || skip_all "$native_missing"
check "cross-compile a program with functions" workload mixture -static
native_guest_programs

# Each recording of a running program has one of its own, which forks only while it is recorded: of a
# thread that begins between perf_event_open() and the first enabling perf knows nothing.
# shellcheck disable=SC2016 # expands in the guest
recordings='
	cat > busy <<-"END"
		read x < $1
		rounds=0
		while :; do
			sort input | head -n 20 > sorted
			rounds=$((rounds + 1))
			echo $rounds > $1.rounds
		done
	END
	# until PROGRAM N: the program has made so many rounds.
	cat > until <<-"END"
		while [ "$(cat /tmp/$1.rounds 2> /dev/null || echo 0)" -lt $2 ]; do
			sleep 0.1
		done
	END
	# begin_busy NAME: starts the program, which begins its work when somebody writes to /tmp/NAME.
	begin_busy()
	{
		mkfifo /tmp/$1
		sh busy /tmp/$1 &
		busy=$!
		echo $busy > $1.pid
	}
	# attached NAME OPTION: records five rounds of a running program.
	attached()
	{
		begin_busy $1
		record $1 $2 $busy -m ,32M -e rvtrace//u -- sh -c "echo > /tmp/$1; sh until $1 5" || exit 2
		kill $busy
		wait $busy
	}
	# in_background NAME OPTIONS...: records one until the recorder is ended.
	in_background()
	{
		begin_busy $1
		name=$1
		shift
		native-perf --buildid-dir /mnt/share/debug record --no-buildid-mmap -o $name.data "$@" -e rvtrace//u -p $busy > $name.out 2> $name.log &
		recorder=$!
		while [ ! -s $name.data ]; do
			sleep 0.1
		done
		sleep 2
		echo > /tmp/$name
		for rounds in 3 6; do
			sh until $name $rounds
			kill -USR2 $recorder
		done
		sh until $name 9
		kill $recorder
		wait $recorder
		[ $? -eq 143 ] || exit 12
		kill $busy
		wait $busy
	}
	# numbered NAME: gives the files of a switched output short names.
	numbered()
	{
		n=0
		for file in $1.data.*; do
			n=$((n + 1))
			mv $file $1-$n.data
		done
	}
	attached process -p
	attached thread -t
	# With these, perf 7.2 writes no list of build ids, which is where it has that of the vdso.
	record compressed -z --buildid-mmap -m ,32M -e rvtrace//u -- sort input || exit 3
	in_background signal --switch-output=signal --buildid-mmap -m ,32M
	numbered signal
	in_background size --switch-output=1M --buildid-mmap -m ,32M
	numbered size
	record filter -e rvtrace//u --filter "filter fibonacci @/mnt/share/mixture" -- mixture || exit 4
	record group -e "{rvtrace//u,cpu-clock/freq=500/u}" -- sort input || exit 5
	record paused -e "{rvtrace/aux-action=start-paused/u,cpu-clock/aux-action=resume,freq=1000/u}" -- \
		sort input || exit 6
	in_background snapshot -S -m ,256K
	for term in /sys/bus/event_source/devices/rvtrace/format/*; do
		term=${term##*/}
		record term-$term -e rvtrace/$term=0/u -- true || exit 7
	done
	# what has nothing to do with trace says so
	native-perf top --stdio -e rvtrace//u < /dev/null > top.log 2>&1 && exit 8
	native-perf trace -e rvtrace//u true < /dev/null > trace.log 2>&1 && exit 9
	native-perf mem record true > mem.log 2>&1 && exit 10
	native-perf c2c record true > c2c.log 2>&1 && exit 11'

# threads_of NAME: the program that was recorded and what it started, as options
threads_of()
{
	[ ! -e "$dir/share/$1.pid" ] || echo --thread "$(cat "$dir/share/$1.pid")"
	native_threads "$1"
}

# executed NAME [rvt-truth-diff options]: what was decoded is what was executed by them.
executed()
{
	local name=$1

	shift
	# shellcheck disable=SC2046 # these are words
	native_equals_truth "$name" --min 50000 "$@" $(threads_of "$name")
}

# executed_by_path NAME...: the same, of several files of one recording, with code from paths.
executed_by_path()
{
	local name

	set -o pipefail
	for name in "$@"; do
		"$native/bin/perf" script -i "$dir/share/$name.data" --symfs "$("$LAB" path guest)" --itrace=i1ie \
			-F cpu,tid,ip || return
	done | native_lines | "$HOST/rvt-truth-diff" --lossy --min 50000 "$dir/truth"
}

# only_there FUNCTION: of the program mixture nothing else was decoded.
only_there()
{
	native_perf script -i "$dir/share/filter.data" --itrace=i1i -F ip,sym | awk -v wanted="$1" '
		{ n++ }
		$2 != wanted { print; other++ }
		END { print n + 0, "instructions"; exit n < 1000 || other }'
}

refused()
{
	cat "$dir/share/$1.log"
	[ "$(wc -l <"$dir/share/$1.log")" -lt 10 ] && grep -q "$2" "$dir/share/$1.log"
}

for protocol in N-Trace E-Trace; do
	native_protocol "$protocol"
	guest "$protocol" testing "$model_args" "
		$native_in_guest
		$recordings
		rmmod rvtrace"
	ok $? "$protocol: perf records" || continue
	check "$protocol: -p" executed process
	check "$protocol: -t" executed thread
	check "$protocol: -z" executed_by_path compressed
	check "$protocol: --filter: the function" only_there fibonacci
	check "$protocol: --filter: each time" executed filter --min 1000
	check "$protocol: a group with another event" executed group
	check "$protocol: aux-action" executed paused
	check "$protocol: snapshots at a signal" executed snapshot --lossy
	for what in signal size; do
		files=("$dir/share/$what"-*.data)
		[ ${#files[@]} -gt 2 ]
		ok $? "$protocol: --switch-output=$what makes ${#files[@]} files"
		names=("${files[@]##*/}")
		check "$protocol: each of them can be read" executed_by_path "${names[@]%.data}"
		check "$protocol: the second has trace of its own" executed_by_path "${names[1]%.data}"
	done
	check "$protocol: no rule of the control interface was broken" no_violations
done
check "top refuses it" refused top "perf top cannot show rvtrace//u"
check "trace refuses it" refused trace "perf trace cannot show rvtrace//u"
check "mem has no event" refused mem "no PMU supports the memory events"
check "c2c has no event" refused c2c "no PMU supports the memory events"
done_testing
