# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the N-Trace tests: many recordings of a small program in one boot. A test sources it after
# lib.sh.
# shellcheck disable=SC2034

none=implicit_return=0,sequential_jump=0,repeated_history=0
every=implicit_return,sequential_jump,repeated_history,all_jumps,extend_address_msb
quiet=context=0,timestamp=0

# recordings: the list is "NAME EVENT PROGRAM..." lines; record_all makes NAME.data of each, in
# order.
record_all()
{
	printf 'insmod rvtrace.ko || exit 1\n'
	while read -r name event program; do
		[ -n "$name" ] || continue
		printf 'perf-rvtrace record -q -m ,8M -o %s.data -e %s -- %s > %s.out || { echo %s; exit 1; }\n' \
			"$name" "$event" "$program" "$name" "$name"
	done <<<"$1"
}

# all_equal LIST [--params FILE]: what is decoded of all, one behind the other, is the boot's whole
# truth.
all_equal()
{
	local list=$1
	shift
	set -o pipefail
	while read -r name event _; do
		[ -n "$name" ] || continue
		echo "# recording $name"
		# Without context nobody wrote scontext, and the truth has an old one.
		raw_pc "$dir/share/$name.data" "$@" |
			case $event in *context=0*) sed 's/^\([0-9]* \)[^ ]*/\1-/' ;; *) cat ;; esac || return
	done <<<"$list" | "$HOST/rvt-truth-diff" --min 1000000 "$dir/truth"
}

# bits NAME: bits for each instruction, of a recording.
bits()
{
	"$HOST/perf-rvtrace" stat -i "$dir/share/$1.data" --symfs "$dir/share:$("$LAB" path guest)" |
		awk '$1 == "all" { print $4 }'
}
