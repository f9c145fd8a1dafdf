#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Three programs that others wrote (lua, zstd, sqlite's speed test) are recorded and compiled again
# with their profiles, by clang and by GCC: both take the profile without a warning, and the program
# then does the same work with fewer instructions, by what the emulator executed. Beside it the way
# over llvm-profgen, with the same recording and the same input.
. "$(dirname "$0")/../lib.sh"

for v in -22 -21 -20 -19 ''; do
	command -v "clang$v" >/dev/null && command -v "ld.lld$v" >/dev/null && command -v "llvm-profgen$v" >/dev/null && break
done
[ -n "$v" ] || skip_all "no LLVM of 19 or later: apt-get install clang-19 lld-19 llvm-19"
command -v tclsh >/dev/null || skip_all "no tclsh, which sqlite is made with: apt-get install tcl"

rv=$HOST/perf-rvtrace
sources=$TOP/build/guest/$test_name-sources
sysroot=$("$LAB" path guest)
programs='lua zstd sqlite'
rm -rf "$guest_bin"
mkdir -p "$guest_bin" "$sources"

declare -A package=([lua]=lua5.4 [zstd]=libzstd [sqlite]=sqlite3)
for program in $programs; do
	[ -e "$sources/$program/.unpacked" ] ||
		{ "$LAB" package-source "${package[$program]}" "$sources/$program" && touch "$sources/$program/.unpacked"; }
	ok $? "sources of $program"
done
[ -e "$sources/sqlite/sqlite3.c" ] ||
	(cd "$sources/sqlite" && ./configure --disable-tcl && make sqlite3.c) >"$sources/sqlite.log" 2>&1
ok $? "sqlite's sources are made one file"

# sources_of PROGRAM: options and files, as words.
sources_of()
{
	local dir=$sources/$1

	case $1 in
	lua) echo -DLUA_USE_POSIX "$(ls "$dir"/src/*.c | grep -v /luac.c | paste -sd ' ')" -lm ;;
	zstd) echo -DZSTD_LEGACY_SUPPORT=0 -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_ "-I$dir/lib" "-I$dir/lib/common" \
		"$dir"/programs/*.c "$dir"/lib/{common,compress,decompress,dictBuilder}/*.c ;;
	sqlite) echo -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION "-I$dir" "$dir/test/speedtest1.c" "$dir/sqlite3.c" -lm ;;
	esac
}

# Not relocated, so that an address of the program is a small number.
# by_clang PROGRAM NAME OPTIONS...
by_clang()
{
	# shellcheck disable=SC2046 # these are words
	"clang$v" --target=riscv64-linux-gnu "--sysroot=$sysroot" -O2 -gdwarf-4 -fdebug-info-for-profiling \
		-no-pie -fuse-ld=lld "${@:3}" -o "$guest_bin/$1.$2" $(sources_of "$1")
}

# by_gcc PROGRAM NAME OPTIONS...
by_gcc()
{
	# shellcheck disable=SC2046 # these are words
	"$LAB" cross gcc-16 "--sysroot=$sysroot" -O2 -g -no-pie "${@:3}" -o "$guest_bin/$1.$2" $(sources_of "$1")
}

for program in $programs; do
	check "$program: clang" by_clang "$program" clang
	check "$program: GCC" by_gcc "$program" gcc
done

# What they do: argument $1 is the program's file.
cat >"$guest_bin/work.lua" <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words, sum = {}, 0
for i = 1, 3000 do words[i] = ("%d:%s"):format((i * 7919) % 1009, string.rep("x", i % 7)) end
table.sort(words)
for _, word in ipairs(words) do for digit in word:gmatch("%d") do sum = sum + tonumber(digit) end end
print(fib(18), sum, table.concat(words, ","):len())
END
seq 1 8000 >"$guest_bin/numbers"
runs='
lua() { "$@" work.lua; }
zstd() { "$@" -q -6 -c numbers | cksum; }
sqlite() { "$@" --size 1 --testset main :memory: | grep -v "[0-9]s$\|TOTAL"; }'

# recorded NAME KIND...: each program of these kinds is recorded, its process told in tid.PROGRAM.KIND.
recorded()
{
	local name=$1

	shift
	GUEST_TIMEOUT=1800 guest "$name" testing '' "
		insmod rvtrace.ko || exit 1
		$runs
		for program in $programs; do for kind in $*; do
			\$program perf-rvtrace record -m ,32M -o \$program.\$kind.data -e rvtrace//u -- \
				sh -c 'echo \$\$ > tid.\$0; exec \"\$@\"' \$program.\$kind ./\$program.\$kind > out.\$program.\$kind || exit 2
		done; done"
}
check "the programs are recorded" recorded before clang gcc
before=$dir

# Samples by time, where an instruction takes as long as any other: of the ten functions that execute
# most each has its share of them. With repeated history encoders stamp some messages later than what
# they are about: as_is has that, as record asks for it.
even()
{
	GUEST_TIMEOUT=1800 guest even testing clock=even '
		insmod rvtrace.ko || exit 1
		cd /tmp; cp /mnt/share/*.gcc /mnt/share/work.lua .
		seq 1 400000 > numbers
		for n in 1 2 3 4 5 6; do sed "s,^local words,words," work.lua; done > more.lua
		record() { perf-rvtrace record -o $1.data -m ,64M -e rvtrace/repeated_history=${history-0}/u -- "./$@" > /dev/null; }
		record lua.gcc more.lua || exit 2
		record zstd.gcc -q -6 -c numbers || exit 3
		record sqlite.gcc --size 4 --testset main :memory: || exit 4
		mv zstd.gcc.data zstd.data || exit 5
		history=1 record zstd.gcc -q -6 -c numbers || exit 6
		mv zstd.gcc.data zstd.as_is.data && mv zstd.data zstd.gcc.data && mv *.data /mnt/share'
}
keep_truth=
check "the programs are recorded by an even clock" even
keep_truth=yes

# by_function PROGRAM KIND COMMAND OPTION...
by_function()
{
	"$rv" "$3" -i "$dir/share/$1.$2.data" --symfs "$dir/share:$sysroot" --comms "$1.gcc" "${@:4}" 2>/dev/null
}

# shares PROGRAM KIND POINTS: of the functions, by samples of each period
shares()
{
	by_function "$1" "$2" report -s sym | sed -n 's,^ *[0-9.]*% *\([0-9]*\) .*\[[.k]\] ,\1\t,p' >"$dir/exact"
	for period in 1us 10us 100us 1ms; do
		by_function "$1" "$2" script "--itrace=i$period" -F sym | sed 's/^ *//' | sort | uniq -c |
			sed 's/^ *\([0-9]*\) /\1\t/' >"$dir/sampled"
		check "$1.$2: a sample each $period: shares of functions within $3 points" awk -F '\t' -v points="$3" '
			NR == FNR { insns[$2] = $1; all += $1; if (NR <= 10) top[NR] = $2; next }
			{ samples[$2] = $1; n += $1 }
			END { for (i in top) { off = 100 * samples[top[i]] / n - 100 * insns[top[i]] / all
				if (off < 0) off = -off; if (off > most) { most = off; name = top[i] } }
				print n " samples, " name " is " most " points off"; exit n < 100 || most > points }' \
			"$dir/exact" "$dir/sampled"
	done
}
for program in $programs; do
	shares "$program" gcc 2
done
shares zstd as_is 2
dir=$before

# profile PROGRAM KIND FORMAT: of its recording.
profile()
{
	"$rv" profile -i "$before/share/$1.$2.data" --symfs "$before/share:$sysroot" -f "$3" \
		--dso "$1.$2" -o "$before/$1.$3"
}

for program in $programs; do
	check "$program: profile for clang" profile "$program" clang clang
	check "$program: profile for GCC" profile "$program" gcc gcc
	check "$program: counts for llvm-profgen" profile "$program" clang llvm
	check "$program: llvm-profgen" "llvm-profgen$v" "--binary=$guest_bin/$program.clang" \
		"--unsymbolized-profile=$before/$program.llvm" "--output=$before/$program.profgen"
	check "$program: clang takes our profile without a warning" \
		by_clang "$program" own -Werror "-fprofile-sample-use=$before/$program.clang"
	check "$program: clang takes llvm-profgen's" by_clang "$program" profgen "-fprofile-sample-use=$before/$program.profgen"
	check "$program: GCC takes our profile without a warning" \
		by_gcc "$program" owngcc -Werror "-fauto-profile=$before/$program.gcc"
done
check "the programs are run with their profiles" recorded after clang own profgen gcc owngcc

# executed PROGRAM KIND: instructions of the program itself, all of it by the emulator.
executed()
{
	local file tid

	tid=$(cat "$dir/share/tid.$1.$2")
	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" --pc --traced --prv 0 --scontext "$tid" "$file"
	done | grep -c '^00000000'
}

for program in $programs; do
	for kind in own profgen gcc owngcc; do
		is "$program: $kind does the same" "$(cat "$dir/share/out.$program.clang")" "$(cat "$dir/share/out.$program.$kind")"
	done
	clang=$(executed "$program" clang)
	own=$(executed "$program" own)
	profgen=$(executed "$program" profgen)
	gcc=$(executed "$program" gcc)
	owngcc=$(executed "$program" owngcc)
	echo "# $program: instructions: clang $clang, with our profile $own, with llvm-profgen's $profgen; GCC $gcc, with our profile $owngcc"
	[ "$own" -gt 1000000 ] && [ "$own" -lt "$clang" ]
	ok $? "$program: clang's program executes fewer instructions with our profile"
	[ "$own" -le $((profgen + profgen / 50)) ]
	ok $? "$program: and not 2 % more than with llvm-profgen's"
	[ "$owngcc" -gt 1000000 ] && [ "$owngcc" -lt "$gcc" ]
	ok $? "$program: GCC's program executes fewer instructions with our profile"
done
done_testing
