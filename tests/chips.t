#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Chips by name: each file in share/rvtrace/chips can be used, and says where its values are from.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# One instruction, c.nop, and the trace of it: from N-Trace 1.0, or as SiFive had it before.
printf '\001\000' >"$dir/code"
printf 'ProgTraceSync SYNC=3 F-ADDR=0x80\nProgTraceCorrelation EVCODE=0 I-CNT=1\n' >"$dir/messages"

"$rv" decode --chip help >"$dir/list"
is "--chip help" 0 $?
is "it lists every file" "$(ls share/rvtrace/chips | paste -sd' ')" "$(cut -d' ' -f 1 "$dir/list" | paste -sd' ')"
is "with a title each" 0 "$(grep -vcE '^[a-z0-9-]+ +[A-Z]' "$dir/list")"
"$rv" dump --chip help | cmp -s - "$dir/list"
ok $? "dump: the same"

for file in share/rvtrace/chips/*; do
	chip=${file##*/}
	# What decides how bits are read stands behind a comment, or a key that has one.
	awk '/^#/ { said = 1 } /^$/ { said = 0 } /^[a-z]/ && !said { print; bad = 1 } END { exit bad }' "$file" >"$dir/out"
	ok_or_show $? "$chip: comments" "$dir/out"
	grep -q '^protocol = etrace' "$file" && continue
	"$TOP/build/host/rvt-asm" "$file" <"$dir/messages" >"$dir/dump" &&
		"$rv" decode --chip "$chip" --raw "$dir/code@0x100" "$dir/dump" >"$dir/out" 2>&1
	ok_or_show $? "$chip: decodes" "$dir/out"
	is "$chip: the instruction" 100 "$(cat "$dir/out")"
	"$rv" dump --chip "$chip" "$dir/dump" >"$dir/out" 2>&1
	ok_or_show $? "$chip: dump" "$dir/out"
done

# A file beside the chip changes single keys.
printf '# SRC is inhibited\nsrc_bits = 0\n' >"$dir/single"
cp share/rvtrace/chips/p550 "$dir/params"
cat "$dir/single" >>"$dir/params"
"$TOP/build/host/rvt-asm" "$dir/params" <"$dir/messages" >"$dir/dump"
"$rv" decode --chip p550 --params "$dir/single" --raw "$dir/code@0x100" "$dir/dump" >"$dir/out" 2>&1
ok_or_show $? "--chip and --params: decodes" "$dir/out"
is "--chip and --params: the instruction" 100 "$(cat "$dir/out")"
"$rv" dump --chip p550 --params "$dir/single" "$dir/dump" >"$dir/out" 2>&1
ok_or_show $? "dump: --chip and --params" "$dir/out"

# says NAME TEXT COMMAND...: exit status 2 and a message on standard error
says()
{
	local name=$1 text=$2

	shift 2
	"$rv" "$@" >"$dir/out" 2>"$dir/err"
	[ $? = 2 ] && grep -qF -- "$text" "$dir/err"
	ok_or_show $? "$name" "$dir/err"
}

for command in decode dump; do
	raw=()
	[ $command = dump ] || raw=(--raw "$dir/code@0x100")
	says "$command: an unknown chip" "there is no parameter file for 'p55'; chips: $(cut -d' ' -f 1 "$dir/list" | paste -sd, | sed 's/,/, /g')" \
		"$command" --chip p55 "${raw[@]}" "$dir/dump"
	says "$command: a path is no name" "no parameter file for '../chips/p550'" \
		"$command" --chip ../chips/p550 "${raw[@]}" "$dir/dump"
	says "$command: neither chip nor file" "--chip help lists them" "$command" "${raw[@]}" "$dir/dump"
	printf 'src_bit = 0\n' >"$dir/bad"
	says "$command: an unknown key" "bad:1: unknown key 'src_bit'; valid keys: protocol, " \
		"$command" --chip p550 --params "$dir/bad" "${raw[@]}" "$dir/dump"
	says "$command: no such file" "nothing: cannot be read" \
		"$command" --chip p550 --params "$dir/nothing" "${raw[@]}" "$dir/dump"
done
done_testing
