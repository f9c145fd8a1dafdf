#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# profile --merge adds up profiles of each form, and says which line of a file is none. No recording
# is needed.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# sums NAME FORMAT EXPECTED: the sum of $dir/a and $dir/b
sums()
{
	build/host/perf-rvtrace profile -f "$2" --merge "$dir/a" "$dir/b" >"$dir/sum" 2>&1
	is "$1" "$3" "$(cat "$dir/sum")"
}

# refuses NAME TEXT OPTIONS...: fails, and the message has TEXT
refuses()
{
	! build/host/perf-rvtrace profile "${@:3}" >"$dir/sum" 2>&1 && grep -qF -- "$2" "$dir/sum"
	ok_or_show $? "$1" "$dir/sum"
}

printf '%s\n' 2 5e0-5fc:4 600-608:1 1 '608->5e0:2' >"$dir/a"
printf '%s\n' 2 600-608:41 700-704:18446744073709551610 1 '704->5e0:1' >"$dir/b"
sums "llvm: ranges and branches add up" llvm \
	$'3\n5e0-5fc:4\n600-608:42\n700-704:18446744073709551610\n2\n608->5e0:2\n704->5e0:1'
printf '%s\n' 1 10-20:3 0 1 '20->10:2' >"$dir/a"
printf '%s\n' 1 10-20:4 1 30:5 1 '20->10:5' >"$dir/b"
sums "autofdo: addresses, too" autofdo $'1\n10-20:7\n1\n30:5\n1\n20->10:7'
printf '%s\n' 'F 5e0 5fc 4' 'B 608 5e0 2 1' >"$dir/a"
printf '%s\n' 'B 608 5e0 40 2' 'B 610 5e0 1 0' >"$dir/b"
sums "bolt: counts and mispredictions add up" bolt $'B 608 5e0 42 3\nB 610 5e0 1 0\nF 5e0 5fc 4'
printf '%s\n' 'sh;main;operator new 4' 'sh;main 1' >"$dir/a"
printf '%s\n' 'sh;main;operator new 5' >"$dir/b"
sums "folded: names with spaces" folded $'sh;main 1\nsh;main;operator new 9'

# Counts of all files become the profile of one. The first segment with code is at 0x11abc of
# /bin/one, its first segment at 0x10000: llvm counts from the page of the one, autofdo from the
# other, bolt from 0.
cat >"$dir/a" <<-'END'
	rvtrace counts 1
	file /bin/one
	bases 11abc 10000
	ran 9
	F 11b00 11b08 3
	B 11b08 11b00 2
	file /lib/two
	path /elsewhere/two
	bases 0 0
	ran 8
	F 20 28 4
END
sed 's/11b08 2$/11b08 5/; s/^B 11b08 11b00 2/B 11b0c 11b00 7/; s/^ran 8/ran 100/' "$dir/a" >"$dir/b"
# made NAME EXPECTED OPTIONS...
made()
{
	is "$1" "$2" "$(build/host/perf-rvtrace profile "${@:3}" 2>/dev/null)"
}
made "counts: llvm" $'1\nb00-b08:3\n1\nb08->b00:2' -f llvm -i "$dir/a"
made "counts: autofdo" $'1\n1b00-1b08:3\n0\n1\n1b08->1b00:2' -f autofdo -i "$dir/a"
made "counts: bolt, of the file that is named" 'F 20 28 4' -f bolt -i "$dir/a" --dso two
made "counts: the file that ran most in one of them" 'F 20 28 4' -f bolt -i "$dir/b"
sums "counts add up" counts 'rvtrace counts 1
file /bin/one
bases 11abc 10000
ran 18
F 11b00 11b08 6
B 11b08 11b00 2
B 11b0c 11b00 7
file /lib/two
path /elsewhere/two
bases 0 0
ran 108
F 20 28 8'
echo 'F 30 38 1' >"$dir/c"
made "counts among profiles" $'F 20 28 8\nF 30 38 1' -f bolt --dso two --merge "$dir/a" "$dir/b" \
	"$dir/c"
refused()
{
	build/host/perf-rvtrace profile "$@" 2>&1 >"$dir/made" | grep -q 'is a profile: .* choose from recordings only' && [ ! -s "$dir/made" ]
}
check "counts: no filters" refused -f bolt -i "$dir/b" --comms sh
check "counts among profiles: no filters" refused -f bolt --dso two --merge "$dir/a" "$dir/c" --time 1,2
# One build has one entry, whatever it is called; two builds of one name have two.
printf 'rvtrace counts 1\n' >"$dir/c"
printf 'file /%s\nbuild-id %s\nbases 0 0\nran %s\nF 20 28 %s\n' b/app aa 9 3 a/app bb 8 1 >>"$dir/c"
{ echo "rvtrace counts 1"; printf 'file /%s\nbuild-id %s\nbases 0 0\nran %s\nF 20 28 %s\n' a/app aa 4 5; } >"$dir/d"
is "counts: one build under two names, two under one" "rvtrace counts 1
file /a/app
build-id aa
bases 0 0
ran 13
F 20 28 8
file /a/app
build-id bb
bases 0 0
ran 8
F 20 28 1" "$(build/host/perf-rvtrace profile -f counts --merge "$dir/d" "$dir/c")"
is "counts: in any order" "$(build/host/perf-rvtrace profile -f counts --merge "$dir/d" "$dir/c")" \
	"$(build/host/perf-rvtrace profile -f counts --merge "$dir/c" "$dir/d")"
made "counts: the build that ran most" 'F 20 28 3' -f bolt -i "$dir/c" --dso app
made "counts: the build that is named" 'F 20 28 1' -f bolt -i "$dir/c" --dso bb
refuses "counts know no callers" "cannot be made from counts" -f folded -i "$dir/a"
sed -i 's/^ran 9/ran nine/' "$dir/a"
refuses "a line that is none of the counts" "$dir/a:4:" -f llvm -i "$dir/a"

printf '%s\n' 'sh;main;operator new 4' 'sh;main 1' >"$dir/a"
printf '%s\n' 'sh;main;operator new 5' >"$dir/b"
# A picture of the sum: 4 + 1 + 5 instructions below sh, 9 of them in operator new.
build/host/perf-rvtrace profile -f svg --merge "$dir/a" "$dir/b" >"$dir/svg" 2>&1
for title in 'sh: 10 instructions, 100.00%' 'main: 10 instructions, 100.00%' 'operator new: 9 instructions, 90.00%'; do
	check "svg: $title" grep -F "<title>$title</title>" "$dir/svg"
done

refuses "a line of another form" "$dir/a:1:" -f llvm --merge "$dir/a"
printf '%s\n' 3 10-20:1 >"$dir/b"
refuses "a profile that is cut off" "ends after line 2" -f llvm --merge "$dir/b"
printf 'F 10 20 many\n' >"$dir/b"
refuses "a count that is no number" "$dir/b:1:" -f bolt --merge "$dir/b"
refuses "a file that is not there" "$dir/none" -f bolt --merge "$dir/none"
refuses "a timeline of what is no recording" "not a perf.data file" -f chrome --merge "$dir/a"
refuses "no file at all" "which files?" -f bolt --merge
refuses "a form that has nothing to add up" "lcov -a" -f lcov --merge "$dir/a"
printf PERFILE2 >"$dir/b"
refuses "a recording without the name of a file" "--dso NAME" -f bolt --merge "$dir/b"
refuses "an unknown format" "formats: llvm, bolt" -f gprof
done_testing
