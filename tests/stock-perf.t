#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What this machine's perf makes of recordings and of what inject writes, and how it runs the plugin.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
perf --version >/dev/null 2>&1 || skip_all "there is no perf"
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
"$TOP/build/host/rvt-recording" raw.data "$dir/raw.data.program" 0 prog 30000
"$rv" inject --itrace=b -i raw.data -o injected.data 2>/dev/null
samples=$("$rv" script -i raw.data | grep -cvE ' (tr strt|tr end) ')

# runs NAME COMMAND...: succeeds, and does not end by a signal
runs()
{
	"${@:2}" >out 2>err
	is "$1" 0 $?
}

runs "perf inject of a raw recording" perf inject -i raw.data -o copy.data
runs "perf report --no-itrace of a raw recording" perf report --no-itrace -i raw.data --stdio
runs "perf evlist of a raw recording" perf evlist -i raw.data
is "perf evlist: its events" "rvtrace" "$(head -n 1 out | sed 's,/.*,,')"
runs "perf report of an injected one" perf report -f -i injected.data --stdio
"$rv" inject --itrace=i1000g16l8 -i raw.data -o samples.data 2>/dev/null
for fields in ip,brstack comm,tid,time,ip,sym,dso; do
	runs "perf script -F $fields of samples" perf script -f -i samples.data -F $fields
	grep -q '[0-9a-f]' out
	ok_or_show $? "it prints some" err
done
runs "perf inject of an injected one" perf inject -f -i injected.data -o again.data
if perf data convert --help 2>&1 | grep -q to-json; then
	runs "perf data convert --to-json" perf data convert -f -i injected.data --to-json out.json
	if command -v python3 >/dev/null; then
		is "the JSON has all samples" "$samples" \
			"$(python3 -c 'import json, sys; print(len(json.load(open("out.json"))["samples"]))')"
	fi
fi

# Debian's perf is built with CTF, others may not be.
if perf data convert -f -i injected.data --to-ctf ctf >out 2>err || ! grep -qi 'not built\|not compiled in\|no conversion support' out err; then
	is "perf data convert --to-ctf" "$samples" \
		"$(cat out err | sed -n 's/.*(\([0-9]*\) samples).*/\1/p')"
fi

# hotspot's reader, without its window: it ends with an error where it does not know the architecture.
"$rv" inject --itrace=i1000ig --no-arch -i raw.data -o no-arch.data 2>/dev/null
runs "perf report of one without architecture" perf report -f -i no-arch.data --stdio --header
is "its header has none" 0 "$(grep -c '^# arch :' out)"
parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
if [ -n "$parser" ]; then
	samples=$("$rv" script --itrace=i1000i -i raw.data 2>/dev/null | wc -l)
	runs "hotspot reads it" "$parser" --input no-arch.data --output parsed --sysroot "$dir" --app "$dir"
	grep -q 'Cannot unwind' err
	is "hotspot knows what to do with it" 1 $?
	[ "$samples" -gt 20 ] && [ "$(stat -c %s parsed)" -gt $((samples * 32)) ]
	ok $? "it has the samples ($samples)"
fi

# As stock perf runs the plugin, a reader that has gone is no failure of it.
export PATH=$TOP/build/host:$PATH
{ perf rvtrace script -i raw.data 2>err; echo $? >status; } | head -n 2 >/dev/null
is "perf rvtrace | head: status" 141 "$(cat status)"
is "perf rvtrace | head: quiet" "" "$(cat err)"
perf rvtrace report -i raw.data >/dev/full 2>err
is "perf rvtrace >/dev/full: status" 1 $?

done_testing
