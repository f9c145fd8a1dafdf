#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Traces of real chips that others published: what is decoded is their own decoder's list.
# RVT_PUBLIC_TRACES names a directory with files of sifive-trace-decoder, from
# project/trace_tester/test_samples: e31_hello.elf, .rtd and .stdout (unpacked from reference/),
# sifive_sum.elf and .rtd.
. "$(dirname "$0")/tap.sh"
traces=${RVT_PUBLIC_TRACES:-}
[ -n "$traces" ] || skip_all "RVT_PUBLIC_TRACES names no directory with public traces"
for file in e31_hello.elf e31_hello.rtd e31_hello.stdout sifive_sum.elf sifive_sum.rtd; do
	[ -r "$traces/$file" ] || skip_all "$traces has no $file"
done
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'dialect = sifive\nxlen = 32\n' >"$dir/params"

"$rv" decode --params "$dir/params" --image "$traces/e31_hello.elf" "$traces/e31_hello.rtd" >"$dir/pcs"
is "E31: decodes clean" 0 $?
is "E31: so many instructions" 34342 "$(wc -l <"$dir/pcs")"
sed -n 's/^ \+\([0-9a-f]\{8\}\): .*/\1/p' "$traces/e31_hello.stdout" >"$dir/vendor"
cmp "$dir/vendor" "$dir/pcs"
ok $? "E31: those of the vendor's list"
for jobs in 1 3; do
	"$rv" decode --jobs $jobs --params "$dir/params" --image "$traces/e31_hello.elf" \
		"$traces/e31_hello.rtd" | cmp - "$dir/pcs"
	ok $? "E31: the same with --jobs $jobs"
done
"$rv" decode --params "$dir/params" --image "$traces/sifive_sum.elf" "$traces/sifive_sum.rtd" >"$dir/pcs"
is "sifive_sum: decodes clean" 0 $?
is "sifive_sum: so many instructions" 345 "$(wc -l <"$dir/pcs")"
done_testing
