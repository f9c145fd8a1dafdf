#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Traces of real chips that others published: what is decoded is their own decoder's list.
# RVT_PUBLIC_TRACES names a directory with files of sifive-trace-decoder, from
# project/trace_tester/test_samples: e31_hello.elf, .rtd and .stdout (unpacked from reference/),
# sifive_sum.elf and .rtd. And, if they are there, files of tg-nexus-trace, from refcode/c/examples/t1:
# t1.elf (test.elf), t1.bin (output/test-NEX.bin) and t1.pcs (test-PCONLY.txt).
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

# Nobody says what it is: the guess is sure, and what it prints decodes the same.
"$rv" decode --guess --image "$traces/e31_hello.elf" "$traces/e31_hello.rtd" >"$dir/guess"
is "E31: --guess" 0 $?
grep -q '^# sure' "$dir/guess" && grep -qx '# as --chip e31' "$dir/guess"
ok_or_show $? "E31: --guess is sure of the chip" "$dir/guess"
"$rv" decode --params "$dir/guess" --image "$traces/e31_hello.elf" "$traces/e31_hello.rtd" | cmp - "$dir/vendor"
ok $? "E31: decoded by what it printed: the vendor's list"
"$rv" decode --chip e31 --image "$traces/e31_hello.elf" "$traces/e31_hello.rtd" | cmp - "$dir/vendor"
ok $? "E31: --chip e31: the vendor's list"
if [ -r "$traces/t1.elf" ] && [ -r "$traces/t1.bin" ] && [ -r "$traces/t1.pcs" ]; then
	"$rv" decode --guess --image "$traces/t1.elf" "$traces/t1.bin" >"$dir/guess"
	is "t1: --guess" 0 $?
	"$rv" decode --params "$dir/guess" --image "$traces/t1.elf" "$traces/t1.bin" >"$dir/pcs"
	is "t1: so many instructions" 164959 "$(wc -l <"$dir/pcs")"
	sed -n 's/^0x\([0-9A-Fa-f]*\).*/\1/p' "$traces/t1.pcs" | tr 'A-F' 'a-f' | cmp - "$dir/pcs"
	ok $? "t1: those of the list beside it"
else
	skip "t1: --guess" "$traces has no t1.elf, t1.bin and t1.pcs"
fi
done_testing
