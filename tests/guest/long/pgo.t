#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A program is recorded and optimised with its profile, by clang and by BOLT, and does the same work
# with fewer instructions and fewer taken branches: by what the emulator executed, not by our own
# counts.
. "$(dirname "$0")/../lib.sh"

# llvm_tools: sets v to the suffix of a version of LLVM that is here as a whole.
llvm_tools()
{
	local tool

	for v in -22 -21 -20 -19; do
		for tool in clang ld.lld llvm-profgen llvm-bolt llvm-profdata; do
			command -v $tool$v >/dev/null || continue 2
		done
		return
	done
	return 1
}

# bolt-19 and bolt-22 are those of Debian 12 that read RISC-V; 14 to 16 do not.
llvm_tools || skip_all "no LLVM of 19 or later: apt-get install clang-19 lld-19 llvm-19 bolt-19"

rv=$HOST/perf-rvtrace
source=$TOP/tests/guest/workloads/words.c
rm -rf "$guest_bin"
mkdir -p "$guest_bin"

# build NAME OPTIONS...: not relocated, so that an address of the program is a small number.
build()
{
	"clang$v" --target=riscv64-linux-gnu --sysroot="$("$LAB" path guest)" \
		-gdwarf-4 -fdebug-info-for-profiling -no-pie \
		-fuse-ld=lld -Wl,--emit-relocs "${@:2}" -o "$guest_bin/words.$1" "$source"
}

# profile FILE FORMAT OPTIONS...
profile()
{
	"$rv" profile -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" -f "$2" \
		--dso "words.$1" "${@:3}"
}

# body FILE: the lines of a sample profile that say how often a line ran, without those that
# llvm-profgen gives to line 0 and its functions that never ran; totals are not compared, for
# llvm-profgen counts bytes.
body()
{
	"llvm-profdata$v" merge --sample --text "$1" -o - | grep -Ev '^ *[0-9]{5}: |give_up|^   [23]: 0$' |
		sed -E 's/(: [a-z_]+|^[a-z_]+):[0-9]+/\1/'
}

check "the program is compiled, with and without optimisation" build base -O2
check "the program is compiled without optimisation" build cov -O0
# gcc VERSION NAME OPTIONS...: the same with one of GCC's versions.
gcc()
{
	"$LAB" cross "gcc-$1" "--sysroot=$("$LAB" path guest)" -g -O2 -no-pie "${@:3}" \
		-o "$guest_bin/words.$2" "$source"
}
check "the program is compiled by GCC 16" gcc 16 gcc16
check "the program is compiled by GCC 14" gcc 14 gcc14
guest record testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o base.data -e rvtrace//u -- words.base 3 > out.base || exit 2
	perf-rvtrace record -o cov.data -e rvtrace//u -- words.cov 1 > out.cov || exit 3
	for v in 16 14; do
		perf-rvtrace record -o gcc$v.data -e rvtrace//u -- words.gcc$v 3 > out.gcc || exit 6
	done
	perf-rvtrace inject -i base.data -o samples.data --itrace=i1000il16 --comms words.base || exit 4
	perf script -i samples.data --show-mmap-events -F ip,brstack > perfscript || exit 5'
ok $? "the program is recorded"
work=$dir/work
mkdir -p "$work"

# The numbers are those that the program prints: it says how often these lines run.
profile cov lcov -o "$work/info" 2>"$work/info.err"
printed=$(cat "$dir/share/out.cov")
lines_of()
{
	local number

	number=$(grep -n "$1" "$source" | head -n 1 | cut -d : -f 1)
	sed -n "s/^DA:$number,//p" "$work/info"
}
is "coverage: words" "${printed%% words*}" "$(lines_of 'n_words++')"
is "coverage: numbers" \
	"$(grep -o '[0-9]* numbers' <<<"$printed")" "$(lines_of 'n_numbers++') numbers"
is "coverage: lines" "$(grep -o '[0-9]* lines' <<<"$printed")" "$(lines_of 'n_lines++') lines"
is "coverage: what did not run" 0 "$(lines_of 'the table is full')"
is "coverage: a call for each byte of the text" \
	30000 "$(sed -n 's/^FNDA:\([0-9]*\),classify$/\1/p' "$work/info")"
if command -v genhtml >/dev/null; then
	check "genhtml reads it" genhtml -q -o "$work/html" "$work/info"
	check "lcov reads it" lcov --summary "$work/info"
else
	echo "# no lcov here: its reading is not tested"
fi

# From the recording to the compiler and to BOLT.
check "profile for llvm-profgen" profile base llvm -o "$work/counts"
check "profile for BOLT" profile base bolt -o "$work/preagg"
check "llvm-profgen reads the counts" "llvm-profgen$v" --binary="$guest_bin/words.base" \
	--unsymbolized-profile="$work/counts" --output="$work/prof"
check "its profile has the functions" sh -c \
	"llvm-profdata$v show --sample '$work/prof' | grep -q 'Function: count_words\|Function: main'"
# By ourselves: DWARF 4 and 5.
check "profile for clang" profile base clang -o "$work/prof.clang"
is "its counts are those of llvm-profgen" "$(body "$work/prof")" "$(body "$work/prof.clang")"
grep -q ' end_word:' "$work/prof.clang"
ok $? "it has the targets of calls"
is "its functions have as many instructions as in report" \
	"$("$rv" report -i "$dir/share/base.data" --symfs "$dir/share:$("$LAB" path guest)" \
		--sort dso,sym 2>/dev/null | awk '$NF == "main" && /words.base/ { print $2 }')" \
	"$(sed -n 's/^main:\([0-9]*\):1$/\1/p' "$work/prof.clang")"
check "profile for GCC 16" profile gcc16 gcc -o "$work/prof.gcc16"
check "profile for GCC 14" profile gcc14 gcc15 -o "$work/prof.gcc14"

check "llvm-profgen reads the branch stacks that stock perf script prints" "llvm-profgen$v" \
	--binary="$guest_bin/words.base" \
	--perfscript="$dir/share/perfscript" --output="$work/prof.sampled"
check "and finds the functions in them" sh -c \
	"llvm-profdata$v show --sample '$work/prof.sampled' | grep -q 'Function: count_words\|Function: main'"
# A program that clang built; its first segment is not at 0.
if command -v create_gcov >/dev/null; then
	profile base autofdo -o "$work/autofdo"
	check "create_gcov reads the profile" \
		create_gcov --binary="$guest_bin/words.base" --profiler=text \
		--profile="$work/autofdo" --gcov="$work/gcov"
	check "and finds main in it" sh -c "dump_gcov '$work/gcov' | grep -q '^main total:[1-9]'"
fi

# BOLT's own reader of recordings: what it finds of the program in samples is in the exact profile,
# and no more often.
if command -v "perf2bolt$v" >/dev/null && command -v perf >/dev/null; then
	ln -s "$(command -v "perf2bolt$v")" "$work/perf2bolt"
	"$rv" inject -i "$dir/share/base.data" --symfs "$dir/share:$("$LAB" path guest)" \
		-o "$work/brstack.data" \
		--itrace=i1000il32 --comms words.base 2>"$work/inject.err"
	check "perf2bolt reads the samples" \
		"$work/perf2bolt" -p "$work/brstack.data" -o "$work/sampled.fdata" \
		"$guest_bin/words.base"
	check "perf2bolt reads the exact profile" \
		"$work/perf2bolt" -pa -p "$work/preagg" -o "$work/exact.fdata" \
		"$guest_bin/words.base"
	is "branches that only the samples have, or have more often; and those that both have" \
		"0 yes" "$(awk '
		!/unknown|PLT|\.plt/ { key = $1 " " $2 " " $3 " " $4 " " $5 " " $6 }
		/unknown|PLT|\.plt/ || NF != 8 { next }
		FILENAME ~ /exact/ { exact[key] = $8; next }
		key in exact && $8 <= exact[key] { both++; next }
		{ bad++ }
		END { print bad + 0, (both > 30 ? "yes" : both + 0) }' "$work/exact.fdata" "$work/sampled.fdata")"
fi
profile base bolt --merge "$dir/share/base.data" "$work/preagg" >"$work/merged" 2>/dev/null
sum()
{
	awk '{ sum += $4 } END { print sum }' "$1"
}
is "a recording and its profile are twice the profile" \
	"$(($(sum "$work/preagg") * 2))" "$(sum "$work/merged")"

check "clang uses the profile" build pgo -O2 -fprofile-sample-use="$work/prof"
check "clang uses our profile" build own -O2 -Werror -fprofile-sample-use="$work/prof.clang"
for version in 16 14; do
	check "GCC $version uses our profile" gcc $version own$version -Werror \
		-fauto-profile="$work/prof.gcc$version"
done
check "BOLT uses the profile" "llvm-bolt$v" "$guest_bin/words.base" -pa --data "$work/preagg" \
	--reorder-blocks=ext-tsp --reorder-functions=hfsort -o "$guest_bin/words.bolt"

# What they do: the truth of the emulator for each program's thread.
guest compare testing '' '
	insmod rvtrace.ko || exit 1
	for p in base pgo bolt own gcc16 gcc14 own16 own14; do
		perf-rvtrace record -o $p.data -e rvtrace//u -- sh -c "echo \$\$ > tid.$p; exec words.$p 3" > out.$p ||
			exit 2
	done'
ok $? "the optimised programs run"

# executed NAME: instructions of the program itself, and jumps (the next address is not behind this
# one).
executed()
{
	local file

	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" --pc --traced --prv 0 --scontext "$(cat "$dir/share/tid.$1")" \
			"$file"
	done | perl -ne 'chomp; next unless s{^0{8}}{}; $pc = hex; $n++; $step = $pc - $last;
		$jumps++ if $step != 2 && $step != 4; $last = $pc; END { print "$n $jumps\n" }'
}
read -r base_insns base_jumps < <(executed base)
read -r pgo_insns pgo_jumps < <(executed pgo)
read -r bolt_insns bolt_jumps < <(executed bolt)
echo "# instructions, jumps: $base_insns $base_jumps; clang with profile: $pgo_insns $pgo_jumps; BOLT: $bolt_insns $bolt_jumps"
read -r own_insns own_jumps < <(executed own)
for version in 16 14; do
	read -r plain plain_jumps < <(executed gcc$version)
	read -r own jumps < <(executed own$version)
	echo "# GCC $version: $plain $plain_jumps; with our profile: $own $jumps"
	is "GCC $version's program prints the same" "$(cat "$dir/share/out.gcc$version")" \
		"$(cat "$dir/share/out.own$version")"
	[ "$own" -gt 100000 ] && [ "$jumps" -lt "$plain_jumps" ]
	ok $? "GCC $version's program takes fewer branches"
	# GCC 14 copies more code than it saves here.
	[ $version = 14 ] || check "GCC 16's program executes fewer instructions" [ "$own" -lt "$plain" ]
done
echo "# clang with our profile: $own_insns $own_jumps"
[ "$own_insns" -gt 100000 ] && [ "$own_insns" -lt "$base_insns" ]
ok $? "clang's program with our profile executes fewer instructions"
[ "$own_insns" -le $((pgo_insns + pgo_insns / 100)) ]
ok $? "and not 1 % more than with llvm-profgen's"
is "clang's program prints the same" "$(cat "$dir/share/out.base")" "$(cat "$dir/share/out.pgo")"
is "BOLT's program prints the same" "$(cat "$dir/share/out.base")" "$(cat "$dir/share/out.bolt")"
[ "$pgo_insns" -gt 100000 ] && [ "$pgo_insns" -lt "$base_insns" ]
ok $? "clang's program executes fewer instructions"
[ "$pgo_jumps" -lt "$base_jumps" ]
ok $? "clang's program takes fewer branches"
[ "$bolt_insns" -gt 100000 ] && [ "$bolt_jumps" -lt "$base_jumps" ]
ok $? "BOLT's program takes fewer branches"
for program in base pgo bolt; do
	is "report of $program: all that the emulator executed of it" \
		"$(executed $program | cut -d ' ' -f 1)" "$("$rv" report \
		-i "$dir/share/$program.data" --symfs "$dir/share:$("$LAB" path guest)" --sort dso 2>/dev/null |
		awk -v name="words.$program" '$NF == name { print $2 }')"
done
done_testing
