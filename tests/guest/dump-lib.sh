# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the tests of bare dumps: a dump of two harts, whole, wrapped, cut and damaged. A test sources
# it after lib.sh and sets dump, program, $dir/params and, by truth_of_dump, the truth:
# $dir/pc.HART.
# shellcheck disable=SC2154

rv=$HOST/perf-rvtrace

truth_of_dump()
{
	local hart

	for hart in 0 1; do
		"$HOST/rvt-truth" --pc --traced "$dir/truth/truth.$hart" |
			sed 's/^0*//' >"$dir/pc.$hart"
	done
}

# decode STATUS [options] FILE: with this exit status; what it prints is then in $dir/out and
# $dir/err.
decode()
{
	local want=$1 status

	shift
	timeout 60 "$rv" decode --params "$dir/params" --image "$program" \
		"$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq "$want" ] && return
	echo "exit status $status, not $want"
	head -n 5 "$dir/err"
	return 1
}

# both_harts [options] FILE: each hart's instructions, with its source before them.
both_harts()
{
	local hart

	decode 0 "$@" || return
	[ ! -s "$dir/err" ] || { cat "$dir/err"; return 1; }
	for hart in 0 1; do
		[ "$(wc -l <"$dir/pc.$hart")" -gt 20000 ] || { echo "hart $hart did next to nothing"; return 1; }
		awk -v hart=$hart '$1 == hart { print $2 }' "$dir/out" | cmp - "$dir/pc.$hart" ||
			return
	done
	! grep -vqE '^[01] [0-9a-f]+$' "$dir/out"
}

wrapped()
{
	(tail -c +5001 "$dump"; head -c 5000 "$dump") >"$dir/ring"
	both_harts --wrapped-at $(($(stat -c %s "$dump") - 5000)) "$dir/ring"
}

# ---- what is left of a dump ----

# alike A B: the number of lines with which both files begin.
alike()
{
	awk 'NR == FNR { a[NR] = $0; next } $0 != a[FNR] { exit } { n = FNR } END { print n + 0 }' \
		"$1" "$2"
}

# by_hart: $dir/out.HART of $dir/out. With one source in the dump none is named: it is the hart that
# did that.
by_hart()
{
	local hart

	rm -f "$dir"/out.[01]
	touch "$dir/out.0" "$dir/out.1"
	if head -n 1 "$dir/out" | grep -q ' '; then
		awk -v dir="$dir" '{ print $2 >(dir "/out." $1) }' "$dir/out"
		return
	fi
	hart=$(head -n 1000 "$dir/out" | cmp -s - <(head -n 1000 "$dir/pc.0"); echo $?)
	cp "$dir/out" "$dir/out.$hart"
}

# try FILE: decodes it, with an exit status of 0 or 1, messages that say where, and instructions of
# the program only.
try()
{
	timeout 60 "$rv" decode --params "$dir/params" --image "$program" \
		"$1" >"$dir/out" 2>"$dir/err"
	status=$?
	[ "$status" -le 1 ] || { echo "exit status $status"; return 1; }
	[ "$status" = 1 ] || [ ! -s "$dir/err" ] || { echo "exit status 0, but:"; head -n 3 "$dir/err"; return 1; }
	! grep -vE "^$1: offset 0x[0-9a-f]+: ." "$dir/err" || return
	in_code || return
	by_hart
}

# in_code: no address outside the program's executable segment.
in_code()
{
	local lo hi

	# shellcheck disable=SC2046
	set -- $("$TOP/tools/lab/cross/riscv64-linux-gnu-readelf" -lW "$program" | awk '/LOAD.* R E / { print $3, $5 }')
	lo=$(printf %x "$1") hi=$(printf %x $(($1 + $2)))
	awk -v lo="$lo" -v hi="$hi" '
		function below(a, b) { return length(a) < length(b) || length(a) == length(b) && a "" < b "" }
		below($NF, lo) || !below($NF, hi) || $NF !~ /[02468ace]$/ { print; bad = 1 } END { exit bad }' "$dir/out"
}

# one_piece_off PERCENT: what was decoded is the truth, of which for each hart one piece is missing,
# or is replaced by at most PERCENT of the instructions.
one_piece_off()
{
	local hart front back n

	for hart in 0 1; do
		front=$(alike "$dir/out.$hart" "$dir/pc.$hart")
		back=$(alike <(tac "$dir/out.$hart") <(tac "$dir/pc.$hart"))
		n=$(wc -l <"$dir/out.$hart")
		[ $((front + back + n * $1 / 100)) -ge "$n" ] || { echo "hart $hart: $front, $back of $n instructions"; return 1; }
	done
}

# ends_right N: the last N instructions of each hart are right.
ends_right()
{
	local hart

	for hart in 0 1; do
		tail -n "$1" "$dir/out.$hart" | cmp -s - <(tail -n "$1" "$dir/pc.$hart") ||
			{ echo "hart $hart: not the last $1 instructions"; return 1; }
	done
}

# begins_right SIZE: what is in the first SIZE bytes of the dump was decoded from $dir/damaged, too;
# but for the instruction reported last, of which E-Trace's next packet says how it ended.
begins_right()
{
	local hart n

	for hart in 0 1; do mv "$dir/out.$hart" "$dir/all.$hart"; done
	head -c "$1" "$dump" >"$dir/front"
	try "$dir/front" || return
	for hart in 0 1; do
		n=$(wc -l <"$dir/out.$hart")
		[ "$(alike "$dir/all.$hart" "$dir/pc.$hart")" -ge $((n - 1)) ] ||
			{ echo "hart $hart: not the first $n instructions"; return 1; }
	done
}

# What is left when the ring was overwritten: seven bytes one behind the other, most of them inside
# packets. The end is right, and if nothing is reported, all is.
cut_anywhere()
{
	local from status reported=0

	for from in 1001 1002 1003 1004 1005 1006 1007; do
		tail -c +$from "$dump" >"$dir/tail" || return
		try "$dir/tail" && ends_right 10000 && { [ "$status" = 1 ] || one_piece_off 0; } ||
			{ echo "from byte $from"; return 1; }
		reported=$((reported + status))
	done
	echo "$reported of 7 reported"
}

# ---- damage ----

# overwrite OFFSET: standard input goes there.
overwrite()
{
	dd of="$dir/damaged" bs=1 seek="$1" conv=notrunc status=none
}

flip()
{
	local byte

	byte=$(od -An -tu1 -j "$1" -N 1 "$dump")
	printf -v byte '\\x%02x' $((byte ^ 1 << RANDOM % 8))
	printf %b "$byte" | overwrite "$1"
}

# damage KIND: a damaged copy of the dump. RANDOM has a seed (and subshells would have another).
# Sets place: all before that is whole.
damage()
{
	local size last i n byte noise=''

	size=$(stat -c %s "$dump")
	last=$((size * 3 / 4))
	place=$((4000 + (RANDOM << 15 | RANDOM) % (last - 4000)))
	n=$((8 + RANDOM % 500))
	cp "$dump" "$dir/damaged"
	case $1 in
	cut) (head -c $place "$dump"; tail -c +$((place + 1 + n)) "$dump") >"$dir/damaged" ;;
	end) head -c $place "$dump" >"$dir/damaged" ;;
	zeros) head -c $n /dev/zero | overwrite $place ;;
	noise)
		for ((i = 0; i < n; i++)); do
			printf -v byte '\\x%02x' $((RANDOM & 255))
			noise+=$byte
		done
		printf %b "$noise" | overwrite $place ;;
	flips)
		for ((i = 0; i < 10; i++)); do flip $((place + (RANDOM << 15 | RANDOM) % (last - place))); done ;;
	esac
}

# inside_packet OFFSET: of the whole dump, by the offset and the bytes of each packet that the dump
# command shows.
inside_packet()
{
	# shellcheck disable=SC2046
	set -- "$1" $("$rv" dump --params "$dir/params" "$dump" 2>/dev/null | awk -v place="$(printf %08x "$1")" '
		"" substr($1, 1, 8) >= place { exit }
		{ first = substr($1, 1, 8); for (n = 0; $(n + 2) ~ /^[0-9a-f][0-9a-f]$/; n++) { } }
		END { print first, n }')
	[ "$1" -lt $((0x$2 + $3)) ]
}

# survives KIND: ten damaged copies. What comes before the damage is right, and it has been overcome
# when the last instructions are decoded. What is reported:
# end	a dump that ends inside a packet; one that ends behind a packet is a whole one.
# flips	some of ten.
# else	not always: where whole packets are missing, what is left may be a trace that an encoder could have sent of a
#	program that did less. What is wrong, or lost in several pieces, lies between the damage, which is at most 500
#	bytes of tens of thousands, and the synchronisation packets behind it: not more than a tenth.
survives()
{
	local seed status place reported=0

	for seed in 1 2 3 4 5 6 7 8 9 10; do
		RANDOM=$seed
		damage "$1"
		try "$dir/damaged" && reported=$((reported + status)) && case $1:$status in
		end:0) ! inside_packet "$place" ;;
		end:1) inside_packet "$place" ;;
		flips:0) false ;;
		flips:1) ends_right 1000 ;;
		*) one_piece_off 10 && ends_right 1000 ;;
		esac && begins_right "$place" || { echo "$1, seed $seed, from byte $place"; return 1; }
	done
	echo "$reported of 10 reported"
}
