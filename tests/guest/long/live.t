#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# record --profile: what is counted while it is recorded is what the recording of the same trace
# gives (which is what was executed: see flow.t and etrace.t), and calls are as many as the program
# says.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workload" workload dlopen -ldl
for n in 1 2; do
	"$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=$n -o "$guest_bin/plugin-$n.so" \
		"$TOP/tests/guest/workloads/plugin.c"
done
rv=$HOST/perf-rvtrace

# equal NAME: counts of the recording, made here, but for where the files are.
equal()
{
	"$rv" profile -f counts -i "$dir/share/$1.data" \
		--symfs "$dir/share:$("$LAB" path guest)" >"$dir/$1.counts" || return
	grep -q '^F' "$dir/$1.counts" || return
	diff <(grep -v '^path' "$dir/share/$1.live") <(grep -v '^path' "$dir/$1.counts") |
		head -n 40
	return "${PIPESTATUS[0]}"
}

# entered NAME FILE FUNCTION: how often the function was entered, in the live counts.
entered()
{
	local addr

	addr=$(nm "$guest_bin/$2" | awk -v name="$3" '$3 == name { sub("^0*", "", $1); print $1 }')
	awk -v file="/$2" -v addr="$addr" \
		'/^file/ { inside = substr($0, length($0) - length(file) + 1) == file }
		inside && $1 == "F" && $2 == addr { n += $4 } END { print n + 0 }' "$dir/share/$1.live"
}

for protocol in ntrace etrace; do
	hook_options='' model=''
	[ $protocol = ntrace ] || {
		hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery registers"
		model="etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
	}
	# The decoder has a hart of its own, or it would make more trace than it takes.
	# shellcheck disable=SC2016 # expands in the guest
	guest $protocol testing "$model" '
		live()
		{
			name=$1; shift
			taskset -c 0 perf-rvtrace record --profile -m 1M,8M -o $name.live --keep $name.data "$@" > $name.out 2> $name.err
			status=$?
			cat $name.err
			[ $status = 0 ] || exit 2
		}
		insmod rvtrace.ko || exit 1
		seq 1 1000 > numbers
		live script -e rvtrace//u -- sh -c "sort -n numbers | tail -n 3; ls /etc | sort -r | head -n 3"
		live objects -e rvtrace//u -- dlopen ./plugin-1.so plugin_function 71 ./plugin-2.so plugin_function 73
		live system -C 1 -- taskset -c 1 sort numbers
		# a file a second, while the program runs twice with a pause in between
		taskset -c 0 perf-rvtrace record --profile --switch-output=1s -m 1M,8M -o hourly -e rvtrace//u -- \
			sh -c "./dlopen ./plugin-1.so plugin_function 71 ./plugin-2.so plugin_function 73; sleep 3
				./dlopen ./plugin-1.so plugin_function 71 ./plugin-2.so plugin_function 73" \
			> hourly.out 2> hourly.err || exit 3
		ls hourly.2*'
	ok $? "$protocol: recorded"
	for name in script objects system; do
		check "$protocol, $name: counted live as from the recording" equal $name
	done
	# each file is one, and together they have all that ran
	"$rv" profile -f counts --merge "$dir"/share/hourly.2* >"$dir/share/hourly.live"
	is "$protocol: calls in all files of --switch-output" "142 146" \
		"$(entered hourly plugin-1.so first_plugin) $(entered hourly plugin-2.so second_plugin)"
	[ "$(grep -l plugin-1 "$dir"/share/hourly.2* | wc -l)" -ge 2 ] &&
		[ "$(grep -c 'is complete' "$dir/share/hourly.err")" -ge 2 ]
	ok_or_show $? "$protocol: the runs are in several files" "$dir/share/hourly.err"
	rm "$dir"/share/hourly.*
	is "$protocol: calls into an object" 71 "$(entered objects plugin-1.so first_plugin)"
	is "$protocol: calls into another, where that was" \
		73 "$(entered objects plugin-2.so second_plugin)"
	check "$protocol: nothing was lost" sh -c "! grep -i 'lost' '$dir/share/'*.err"
done
done_testing
