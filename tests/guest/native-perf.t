#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf, where it is built: a script that forks and executes. All else
# is in long/native-perf.t.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/native-lib.sh"

native_built || skip_all "$native_missing"
native_guest_programs
guest main testing '' "
	$native_in_guest
	record script -e rvtrace//u -- sh -c 'sort input | head -n 3; (cd / && ls -d bin)' || exit 2
	record piped -e rvtrace//u -- sort input || exit 3"
ok $? "perf records" || { done_testing; exit; }
# shellcheck disable=SC2046 # these are words
check "what was decoded is what was executed" native_equals_truth script --min 100000 $(native_threads script)
check "perf rvtrace decodes the same" native_same script
# Without --itrace it only copies, and what comes through a pipe has no list of build ids.
script=("$native/bin/perf" script --symfs "$("$LAB" path guest)" --itrace=i1i -F cpu,tid,ip)
"$native/bin/perf" inject -i "$dir/share/piped.data" -o - 2>/dev/null | "${script[@]}" -i - 2>/dev/null | sort >"$dir/piped"
"${script[@]}" -i "$dir/share/piped.data" 2>/dev/null | sort >"$dir/not-piped"
[ "$(wc -l <"$dir/piped")" -gt 100000 ]
ok $? "a recording comes through a pipe"
check "and is the same" cmp "$dir/piped" "$dir/not-piped"
native_perf report -D -i "$dir/share/script.data" 2>/dev/null | grep -aq '  ProgTraceSync SYNC='
ok $? "report -D prints messages"
done_testing
