#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# `fleet`: many recordings as one result, whatever the ranks, jobs and parts; what failed is named and
# done again. The long test is tests/long/fleet.t.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/fleet-lib.sh

make_programs || { echo "Bail out! no programs"; exit 1; }
mkdir "$dir/in"
for i in 1 2 3; do
	record "in/r$i.data" old "$i" 4000 $((i * 0x10000))
done
record in/new.data new 4 3000 0
cd "$dir" || exit 1

# fleet NAME OPTIONS...: into the directory NAME
fleet()
{
	"$rv" fleet -o "$@" >out 2>err
}

# ---- what all good recordings come to ----

check "recordings of two builds" fleet all -f bolt,folded,svg --dso "$(build_id old)" in
is "the counts are those of profile --merge" \
	"$("$rv" profile -f counts --merge in/*.data | sha256sum)" "$(sha256sum <all/counts)"
is "the stacks are, too" \
	"$("$rv" profile -f folded --merge in/*.data | sha256sum)" "$(sha256sum <all/folded)"
is "one profile of one build" "$("$rv" profile -f bolt --dso program --merge in/r?.data | sort | sha256sum)" \
	"$(sort all/bolt | sha256sum)"
is "each build has its entry" 2 "$(grep -c '^build-id' all/counts)"
check "the picture is one" grep -q '<svg' all/svg

# sum COLUMN FILE...: of the lines of reports
sum()
{
	awk -v column="$1" '/^ / { n += $column } END { print n }' "${@:2}"
}
for i in in/*.data; do
	"$rv" report -i "$i" >"$i.report"
done
for column in 2 3 4; do
	is "column $column of the report is the sum" "$(sum $column in/*.report)" "$(sum $column all/report)"
done
is "a line for each thread's name" "$(sed -n 's/.*  \(comm[0-9]\) .*/\1/p' in/*.report | sort)" \
	"$(sed -n 's/.*  \(comm[0-9]\) .*/\1/p' all/report | sort)"
check "nothing is lost" grep -qx '# all of the trace was decoded, nothing is lost' all/report
rm in/*.report

# same NAME DIRECTORY
same()
{
	diff -r -q -x spool all "$2" >out
	ok_or_show $? "$1" out
}
for options in "--jobs 1" "--jobs 3" "--share-size 1K"; do
	# shellcheck disable=SC2086
	fleet other $options -f bolt,folded,svg --dso "$(build_id old)" in
	same "$options: the same" other
	rm -rf other
done

# ---- parts, and what is in the spool ----

for part in 1/2 2/2; do
	"$rv" fleet --spool spool --part $part in 2>err
	is "part $part" "0 2" "$? $(find spool -type f | wc -l | awk -v before="${before:-0}" '{ print $1 - before }')"
	before=2
done
check "the parts together" fleet other --spool spool -f bolt --dso "$(build_id old)" in
is "need no decoder" 1 "$(grep -c 'decoded 0 of 4' err)"
is "and come to the same" "$(sha256sum <all/counts)" "$(sha256sum <other/counts)"
touch in/r2.data
fleet other --spool spool in
is "a recording that is another one is decoded" 1 "$(grep -c 'decoded 1 of 4' err)"
for file in spool/*-r1.data; do
	sed -i 's/^counts .*/counts 18446744073709551615/' "$file"
done
fleet other --spool spool in
is "a file of the spool that claims more than it has is damaged" "1 1" \
	"$? $(grep -c 'spool/.*-r1.data: these are no sums of a fleet, or they are damaged' err)"
rm -rf other spool

# ---- what fails ----

printf 'junk' >in/junk.data
printf '\125\252\023\167' | dd of=in/r1.data bs=1 seek=3000 conv=notrunc 2>/dev/null
"$rv" profile -f counts -i in/r2.data >in/r2.counts
record in/gone.data gone 5 2000 0
mv gone/program gone.program
fleet some --requeue again in
is "the rest goes on" 0 $?
check "what is no recording is named" grep -A1 -x 'FAILED  in/junk.data' some/losses
check "with the reason" grep -q '^        .*not a perf.data file' some/losses
check "a missing program is named" grep -q "^ .*gone/program: No such file" some/losses
check "a damaged one counts as far as it goes" grep -q '^losses  in/r1.data: [1-9][0-9]* instr' some/losses
check "counts are counted" grep -qx 'whole   in/r2.counts: counts' some/losses
check "the report says it first" grep -q '^# NOT ALL' some/report
is "to be done again" "in/gone.data in/junk.data" "$(sort again | paste -sd ' ')"
"$rv" fleet -o strict --strict in 2>err
is "--strict" 1 $?
mv gone.program gone/program
cp in/r3.data in/junk.data
fleet some --requeue again in
is "only those are decoded again" 1 "$(grep -c 'decoded 2 of 7' err)"
is "and nothing is left" "0 0" "$(grep -c FAILED some/losses) $(wc -l <again)"
printf 'in/r1.data\nin/r3.data\n' | "$rv" fleet -o listed --list - 2>err
is "a list" "# 2 recordings: 1 whole, 1 with losses, 0 failed" "$(head -n 1 listed/losses)"
"$rv" fleet -o tight --max-memory 1K in/r3.data 2>err
is "a decoder that ends is no more than a recording that failed" "1 1" \
	"$? $(grep -c '^        ended at 0 MiB of memory' tight/losses)"
is "none at all" 1 "$(fleet none none.data; echo $?)"
is "nothing to do" 1 "$(fleet none; echo $?)"
check "json" "$TOP/tests/tools/check-json" "$TOP/Documentation/json.rst" <(
	"$rv" fleet -o json --json in 2>/dev/null; cat json/losses json/report)

# ---- a store of perf buildid-cache ----

make_store store old new gone
mv old old.away
mv new new.away
rm in/*.counts in/gone.data in/r1.data in/junk.data
fleet stored --symfs store in
is "code by build id" "# all of the trace was decoded, nothing is lost" "$(sed -n 2p stored/report)"
mv old.away old
mv new.away new
fleet found in
is "the same as at its place" "$(grep -v '^path' found/counts | sha256sum)" \
	"$(grep -v '^path' stored/counts | sha256sum)"

# ---- kernels that KASLR moved ----

mkdir kernels
for i in 0 2 6; do
	"$TOP/build/host/rvt-recording" kernels/k$i.data '[kernel.kallsyms]' 0 prog 3000 kernel \
		shift=$(printf '0x%x' $((0xffffffff00000000 + i * 0x100000))) build-id=0011223344556677889900112233445566778899
done
fleet kernel kernels
one=$("$rv" profile -f counts -i kernels/k0.data | awk '$1 == "ran" { print $2 }')
is "three kernels of one build at three places are one" \
	"[kernel.kallsyms] 0011223344556677889900112233445566778899 $((3 * one))" \
	"$(awk '$1 == "file" || $1 == "build-id" || $1 == "ran" { print $2 }' kernel/counts | paste -sd ' ')"
is "its addresses are those that it was linked to" "ffffffff80001" \
	"$(awk '$1 == "F" { print substr($2, 1, 13) }' kernel/counts | sort -u | head -n 1)"
is "each line of code ran three times as often" "$("$rv" profile -f counts -i kernels/k2.data | awk '/^[FB]/ { $4 *= 3; print }' | sha256sum)" \
	"$(grep '^[FB]' kernel/counts | sha256sum)"

# ---- MPI ----

if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
	skip "ranks of MPI" "no mpicc and mpirun: libopenmpi-dev and openmpi-bin, or mpich"
elif ! make -s -C "$TOP" fleet >out 2>&1; then
	ok_or_show 1 "make fleet" out
else
	run_mpi 3 other in
	is "3 ranks of MPI" 0 $?
	diff -r -q -x spool found other >out
	ok_or_show $? "come to the same" out
	OMPI_COMM_WORLD_SIZE=2 "$rv" fleet -o other in 2>err
	is "the program without MPI does not do all of it several times" "1 1" "$? $(grep -c 'knows no MPI' err)"
fi
done_testing
