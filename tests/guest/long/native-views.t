#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf: each way to look at a recording tells the same, which is what
# was executed; damaged and foreign recordings; all of that built with AddressSanitizer.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"

native_built || skip_all "$native_missing"
native_guest_programs
perf=$native/bin/perf

# view NAME COMMAND ARGUMENT...: of NAME.data, as $perf shows it
view()
{
	local name=$1

	shift
	"$perf" --buildid-dir "$dir/share/debug" "$1" -i "$dir/share/$name.data" "${@:2}"
}

# listed: the addresses of all instructions, with files, as `one` has them
listed()
{
	view one script --itrace=i1i -F ip,dso 2>/dev/null
}

insn_trace()
{
	view one script --insn-trace=raw -F ip,insn 2>/dev/null | awk '{ print $1 }' >"$dir/raw"
	awk '{ print $1 }' "$dir/listed" | cmp - "$dir/raw"
}

# The bytes that are shown are those in the file.
insn_bytes()
{
	view one script --insn-trace=raw -F ip,sym,dso,insn 2>/dev/null | awk '
		/bin\/sort/ && n < 200 { n++; sub(/.*insn: */, ""); print }' | tr -d ' ' >"$dir/bytes"
	[ "$(wc -l <"$dir/bytes")" -eq 200 ] && python3 - "$dir/bytes" "$("$LAB" path guest)/usr/bin/sort" <<-'END'
		import sys
		text = open(sys.argv[2], "rb").read()
		insns = [bytes.fromhex(line.strip()) for line in open(sys.argv[1])]
		# lengths by the lowest bits, and each of them somewhere in the file
		sys.exit(any(len(i) != (4 if i[0] & 3 == 3 else 2) or i not in text for i in insns))
	END
}

# A table of the samples by file has as many of each as were listed.
report_by_file()
{
	view one report --itrace=i1i --stdio -q -F sample,dso 2>/dev/null | awk 'NF == 2 { print $2, $1 }' | sort >"$dir/report"
	awk '{ file = $2; gsub(/[()]/, "", file); sub(/.*\//, "", file); n[file]++ } END { for (i in n) print i, n[i] }' \
		"$dir/listed" | sort >"$dir/expected"
	[ "$(wc -l <"$dir/expected")" -gt 2 ] && diff "$dir/expected" "$dir/report"
}

# branches FLAGS: how many of the branches that --itrace=b shows have these flags
branches()
{
	grep -cE "^ *$1" "$dir/branches"
}

calls_and_returns()
{
	local calls returns

	calls=$(view one script --itrace=c -F flags,ip 2>/dev/null | grep -c '^ *call')
	returns=$(view one script --itrace=r -F flags,ip 2>/dev/null | grep -c '^ *return')
	echo "calls $calls, returns $returns"
	[ "$calls" -gt 1000 ] && [ "$returns" -gt 1000 ] && [ "$calls" -eq "$(branches call)" ] &&
		[ "$returns" -eq "$(branches return)" ] &&
		[ "$(view one script --call-trace 2>/dev/null | wc -l)" -ge "$calls" ] &&
		[ "$(view one script --call-ret-trace 2>/dev/null | grep -c ' return ')" -eq "$returns" ]
}

# Samples by time are not closer than that, but for a new beginning.
period_of_time()
{
	view one script --itrace=i100us -F time,ip --ns 2>/dev/null | awk '
		{ sub(/:/, "", $1); now = $1 * 1e6; if (n++ && now - last < 100 - 1e-3) close_++; last = now }
		END { print n + 0, "samples,", close_ + 0, "too close"; exit n < 20 || close_ }'
}

# --time shows what the whole list has of that time.
part_of_time()
{
	local from to

	view one script --itrace=b -F time,ip,addr --ns 2>/dev/null >"$dir/timed"
	from=$(awk 'NR == 10000 { sub(/:/, "", $1); print $1 }' "$dir/timed")
	to=$(awk 'NR == 30000 { sub(/:/, "", $1); print $1 }' "$dir/timed")
	view one script --itrace=b -F time,ip,addr --ns --time "$from,$to" 2>/dev/null >"$dir/part"
	awk -v from="$from" -v to="$to" '{ t = $1; sub(/:/, "", t); if (t "" >= from "" && t "" <= to "") print }' \
		"$dir/timed" >"$dir/expected"
	[ "$(wc -l <"$dir/expected")" -gt 10000 ] && cmp "$dir/expected" "$dir/part"
}

skipped()
{
	view one script --itrace=i1is5000 -F ip,dso 2>/dev/null >"$dir/skipped"
	tail -n +5001 "$dir/listed" | cmp - "$dir/skipped"
}

# Without time stamps and "quick" the flow is the same.
letters()
{
	view one script --itrace=i1iZ -F ip,dso 2>/dev/null | cmp - "$dir/listed" &&
		view one script --itrace=i1iq -F ip,dso 2>/dev/null | cmp - "$dir/listed"
}

filtered()
{
	cc -Wall -Wextra -Werror -shared -fPIC -I"$native/include" -o "$dir/count-branches.so" \
		"$TOP/tests/upstream/count-branches.c" || return
	view one script --itrace=b -F tid,ip,addr --dlfilter "$dir/count-branches.so" >"$dir/filtered" 2>"$dir/filtered.err"
	cat "$dir/filtered.err"
	# the lowest seven bits of an address: two digits
	awk 'substr($NF, length($NF) - 1, 1) !~ /[4-7c-f]/' "$dir/branches.tid" >"$dir/expected"
	[ "$(wc -l <"$dir/expected")" -gt 10000 ] && cmp "$dir/expected" "$dir/filtered" &&
		grep -qx "$(wc -l <"$dir/filtered") of $(wc -l <"$dir/branches.tid") passed" "$dir/filtered.err"
}

scripted()
{
	view one script --itrace=b -s "$TOP/tests/upstream/count_branches.py" 2>/dev/null >"$dir/scripted"
	awk '{ print $1, $2, $3 }' <(sed 's/=>//' "$dir/branches.tid") | cmp - "$dir/scripted"
}

# Samples of another event get the branches and the callers that the trace has.
enriched()
{
	view group script --itrace=b -F time,ip,addr --ns 2>/dev/null >"$dir/branches.time" &&
		view group script --itrace=L8 -F time,brstack --ns 2>/dev/null >"$dir/stacks" &&
		view group script --itrace=G16 -F time,ip --ns 2>/dev/null >"$dir/chains" &&
		python3 "$TOP/tests/upstream/samples.py" "$dir/branches.time" "$dir/stacks" "$dir/chains"
}

# Samples instead of trace are those that the trace gives.
injected()
{
	view one inject --itrace=i1000il16e "$@" -o "$dir/share/injected.data" || return
	view one script --itrace=i1000il16 -F tid,time,ip,brstack 2>/dev/null >"$dir/expected"
	view injected script -F tid,time,ip,brstack 2>/dev/null >"$dir/injected"
	[ "$(wc -l <"$dir/expected")" -gt 1000 ] && cmp "$dir/expected" "$dir/injected"
}

# same_list NAME: its trace is that of `one`.
same_list()
{
	view "$1" script --itrace=i1i -F ip,dso 2>/dev/null | cmp - "$dir/listed"
}

no_trace_left()
{
	view injected report -D 2>/dev/null >"$dir/dump"
	grep -aq PERF_RECORD_SAMPLE "$dir/dump" && ! grep -a 'PERF_RECORD_AUX' "$dir/dump"
}

# The table of branch histories has addresses of the program.
histories()
{
	view one report --branch-history --itrace=i10000il16 --stdio 2>/dev/null >"$dir/history"
	[ "$(grep -c '[0-9]%.*sort' "$dir/history")" -gt 5 ]
}

annotated()
{
	view one annotate --itrace=i100i --stdio --symfs "$("$LAB" path guest)" 2>/dev/null >"$dir/annotated"
	[ "$(grep -cE '^ +[0-9]+\.[0-9]+ :? +[0-9a-f]+:' "$dir/annotated")" -gt 20 ]
}

nothing_of_that()
{
	view one script "--itrace=$1" >"$dir/nothing" 2>&1
	cat "$dir/nothing"
	grep -q 'RISC-V trace has nothing of what is asked for' "$dir/nothing"
}

# no_accesses COMMAND MESSAGE
no_accesses()
{
	"$perf" "$1" report -i "$dir/share/one.data" --stdio >"$dir/nothing" 2>&1
	grep "$2" "$dir/nothing"
}

views()
{
	local name=$1

	listed >"$dir/listed"
	view one script --itrace=b -F flags,ip 2>/dev/null >"$dir/branches"
	view one script --itrace=b -F tid,ip,addr 2>/dev/null >"$dir/branches.tid"
	check "$name: --insn-trace has the same instructions" insn_trace
	check "$name: and their bytes" insn_bytes
	check "$name: report counts them by file" report_by_file
	check "$name: calls and returns" calls_and_returns
	check "$name: a sample each 100 microseconds" period_of_time
	check "$name: --time" part_of_time
	check "$name: --itrace=s" skipped
	check "$name: --itrace=Z and q" letters
	check "$name: --dlfilter" filtered
	check "$name: -s with Python" scripted
	check "$name: --itrace=L and G" enriched
	check "$name: inject" injected
	check "$name: inject -b, where it was recorded, leaves the trace" same_list injected-b
	check "$name: inject --strip" injected --strip
	check "$name: leaves no trace" no_trace_left
	check "$name: report --branch-history" histories
	check "$name: annotate" annotated
	for letter in w p o I M; do
		check "$name: --itrace=$letter says that there is none" nothing_of_that "$letter"
	done
	check "$name: mem says it" no_accesses mem 'no mem data'
	check "$name: c2c says it" no_accesses c2c 'RISC-V trace has nothing of what is asked for'
}

# survives COMMAND ARGUMENT...: it ends on each damaged file by itself, without a fault.
survives()
{
	local file status found=0 n=0

	for file in "$dir"/damaged/*.data; do
		timeout 60 "$perf" --buildid-dir "$dir/share/debug" "$1" -f -i "$file" "${@:2}" >"$dir/damaged.out" 2>"$dir/damaged.err"
		status=$?
		n=$((n + 1))
		# what perf returns as a negative number is behind the signals
		if { [ $status -ge 124 ] && [ $status -le 192 ]; } || grep -q 'Sanitizer\|runtime error' "$dir/damaged.err"; then
			echo "$file: status $status"
			grep -m 1 -A 8 'Sanitizer\|runtime error' "$dir/damaged.err"
			found=1
		fi
	done
	echo "$n files"
	return $found
}

# says FILE MESSAGE: why it is not decoded; without decoding it can be read.
says()
{
	"$perf" script -i "$dir/damaged/$1.data" --itrace=b >"$dir/says" 2>&1 && return 1
	cat "$dir/says"
	grep -q "$2" "$dir/says" &&
		"$perf" script -i "$dir/damaged/$1.data" --no-itrace --show-task-events >"$dir/says" 2>&1 &&
		grep -q PERF_RECORD_COMM "$dir/says"
}

# Damage to the trace is told, and most is decoded all the same.
damage_is_told()
{
	local file told=0 less=0 all n

	all=$(wc -l <"$dir/listed")
	for file in "$dir"/damaged/trace-*.data; do
		"$perf" --buildid-dir "$dir/share/debug" script -i "$file" --itrace=i1ie -F ip 2>/dev/null >"$dir/damaged.out"
		n=$(grep -vc 'trace error' "$dir/damaged.out")
		! grep -q 'trace error' "$dir/damaged.out" || told=$((told + 1))
		[ "$n" -ge $((all / 2)) ] || less=$((less + 1))
	done
	echo "$told recordings of $damaged with errors, $less of which less than half is decoded"
	[ $told -ge $((damaged / 2)) ] && [ $less -lt $((damaged / 4)) ]
}

damaged=40
damages()
{
	local name=$1

	rm -rf "$dir/damaged" && mkdir "$dir/damaged" &&
		python3 "$TOP/tests/upstream/damage.py" "$dir/share/one.data" "$dir/damaged" $damaged
	ok $? "$name: damaged recordings" || return
	check "$name: script ends on each" survives script --itrace=bei1000igl -F ip,addr
	check "$name: so does report" survives report --itrace=i1000ieg --stdio
	check "$name: so does report -D" survives report -D
	check "$name: damage is told" damage_is_told
	check "$name: metadata of a later version say what to install" says version 'use a newer perf'
	check "$name: those of another recorder, too" says other 'recorded by another tool'
}

# The same views and damaged recordings with AddressSanitizer in perf. perf frees little at its end.
with_asan()
{
	local name=$1 what recording count=0

	export ASAN_OPTIONS=detect_leaks=0:exitcode=124
	perf=$asan/bin/perf
	check "$name, AddressSanitizer: script ends on each" survives script --itrace=bei1000igl -F ip,addr
	check "$name, AddressSanitizer: so does report -D" survives report -D
	for what in "script --itrace=b -F cpu,tid,ip,addr" "script --itrace=i1000ig16l16 -F cpu,tid,ip,sym,brstack" \
		"script --itrace=cre" "script --itrace=i10us" "script --insn-trace=raw"; do
		for recording in one script; do
			perf=$asan/bin/perf
			# shellcheck disable=SC2086 # these are words
			view $recording $what >"$dir/asan" 2>"$dir/asan.err"
			perf=$native/bin/perf
			# shellcheck disable=SC2086
			view $recording $what 2>/dev/null | cmp - "$dir/asan" && ! grep 'AddressSanitizer' "$dir/asan.err" && count=$((count + 1))
		done
	done
	is "$name, AddressSanitizer: the same output of two recordings in five views" 10 $count
	unset ASAN_OPTIONS
}

asan=$TOP/build/perf-asan/install
asan_builds()
{
	native_library host "$asan" && "$TOP/upstream/perf/build" host "$TOP/build/perf-asan" "$asan" \
		"EXTRA_CFLAGS=-fsanitize=address -fno-omit-frame-pointer"
}
mkdir -p "$asan/lib"
check "perf builds with AddressSanitizer" asan_builds

for protocol in N-Trace E-Trace; do
	native_protocol "$protocol"
	guest "$protocol" testing "$model_args" "
		$native_in_guest
		record one -e rvtrace//u -- sort input || exit 2
		record group -e '{rvtrace//u,cpu-clock/freq=500/u}' -- sort input || exit 5
		record script -e rvtrace//u -- sh -c 'sort input | head -n 3; (cd / && ls -d bin)' || exit 3
		native-perf --buildid-dir /mnt/share/debug inject -b -i one.data -o injected-b.data || exit 4
		rmmod rvtrace"
	ok $? "$protocol: perf records" || continue
	# shellcheck disable=SC2046 # these are words
	check "$protocol: what is listed is what was executed" native_equals_truth one --min 100000 $(native_threads one)
	views "$protocol"
	damages "$protocol"
	with_asan "$protocol"
done
done_testing
