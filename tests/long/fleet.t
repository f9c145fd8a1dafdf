#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# 200 recordings of programs at other addresses, by 1, 2 and 4 ranks of MPI: the same bytes as by one
# process, also when a rank is killed and the command is run again. Says what processor time they take
# and how evenly it is spread: how many times as fast they are where each has a processor.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
for command in mpicc mpirun; do
	command -v $command >/dev/null || tools/setup-host libopenmpi-dev openmpi-bin >/dev/null 2>&1 ||
		skip_all "no $command, and no package of it"
done
make -s all fleet || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/fleet-lib.sh
recordings=${RECORDINGS:-200}

make_programs || exit 1
mkdir "$dir/in"
for ((i = 0; i < recordings; i++)); do
	name=old
	[ $((i % 3)) != 0 ] || name=new
	record "in/r$i.data" $name $((i % 5)) $((2000 + 997 * i % 30000)) $((i * 0x10000)) || exit 1
done
cd "$dir" || exit 1
formats=(-f "folded,bolt,svg" --dso "$(build_id old)")
printf 'junk' >in/junk.data

"$rv" fleet -o one --jobs 1 "${formats[@]}" in 2>err
is "one process" 0 $?
is "all recordings" "# $((recordings + 1)) recordings: $recordings whole, 0 with losses, 1 failed" "$(head -n 1 one/losses)"
is "two builds" 2 "$(grep -c '^build-id' one/counts)"
rm in/junk.data.old 2>/dev/null
"$rv" profile -f counts --merge in/r*.data >merged
is "the counts are those of profile --merge" "$(sha256sum <merged)" "$(sha256sum <one/counts)"

for ranks in 1 2 4; do
	run_mpi $ranks ranks "${formats[@]}" in
	is "$ranks ranks" 0 $?
	sed -n "s/^\[ \(.*processor.*\) \]/# $ranks ranks: \1/p" err
	awk -v ranks=$ranks '/processor time/ { exit $2 / $7 < 0.8 * ranks }' err
	ok $? "$ranks ranks: about the same work for each"
	diff -r -q -x spool one ranks >differs
	ok_or_show $? "$ranks ranks: the same" differs
	rm -rf ranks
done

# A rank dies in the middle, by the hand of this test: it is a child of mpirun's.
mpi 2 "$rv-mpi" fleet -o killed --requeue again "${formats[@]}" in >out 2>err &
launcher=$!
while [ "$(find killed/spool -name '[0-9a-f]*' 2>/dev/null | wc -l)" -lt $((recordings / 4)) ] && kill -0 $launcher; do
	sleep 0.05
done 2>/dev/null
victim=$(pgrep -P $launcher | tail -n 1)
kill -9 "$victim"
wait $launcher
[ $? -ne 0 ]
ok $? "a rank that is killed ends the run"
is "it is all on the list to be done again" $((recordings + 1)) "$(wc -l <again)"
before=$(find killed/spool -name '[0-9a-f]*' | wc -l)
[ "$before" -ge $((recordings / 4)) ] && [ "$before" -le "$recordings" ]
ok $? "and $before units are done"
"$rv" fleet -o killed --requeue again --jobs 2 "${formats[@]}" --list again 2>err
is "once more" 0 $?
done=$(sed -n 's/.*this rank decoded \([0-9]*\) of.*/\1/p' err)
[ "$done" -le $((recordings + 1 - before + 2)) ]
ok $? "decodes only the rest: $done"
diff -r -q -x spool one killed >differs
ok_or_show $? "and the result is the same" differs
is "what failed is left" "in/junk.data" "$(cat again)"
done_testing
