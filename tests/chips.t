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

# frame: standard input, at most 14 bytes, in one CoreSight frame, as that of trace id 5
frame()
{
	local bytes aux=0 i b

	read -ra bytes < <(od -An -v -tu1 -w64)
	printf '%b' '\x0b'
	for ((i = 1; i < 15; i++)); do
		b=${bytes[i - 1]:-255}
		if ((i % 2 == 0)); then
			aux=$((aux | (b & 1) << i / 2))
			b=$((b & 254))
		fi
		printf '%b' "\\x$(printf %x "$b")"
	done
	printf '%b' "\\x$(printf %x "$aux")"
}
printf 'sync-start index=0 branch=1 address=0x80\nsync-support index=1 ienable=1 qual_status=1\n' >"$dir/packets"

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
	case $chip in esp32*) cp "$dir/packets" "$dir/use" ;; *) cp "$dir/messages" "$dir/use" ;; esac
	grep -v '^framing' "$file" >"$dir/params"
	grep -q '^framing = coresight' "$file" || cp "$file" "$dir/params"
	"$TOP/build/host/rvt-asm" "$dir/params" <"$dir/use" >"$dir/bytes"
	case $(sed -n 's/^framing = //p' "$file") in
	coresight) frame <"$dir/bytes" >"$dir/dump" ;;
	*) cp "$dir/bytes" "$dir/dump" ;;
	esac
	"$rv" decode --chip "$chip" --raw "$dir/code@0x100" "$dir/dump" >"$dir/out" 2>&1
	ok_or_show $? "$chip: decodes" "$dir/out"
	is "$chip: the instruction" 100 "$(cat "$dir/out")"
	# Several of them, one behind the other, by several threads: the same as by one.
	for _ in {1..200}; do cat "$dir/dump"; done >"$dir/many"
	"$rv" decode --jobs 1 --chip "$chip" --raw "$dir/code@0x100" "$dir/many" >"$dir/one" 2>&1
	SMALL_SLICES=150 "$rv-small-slices" decode --jobs 3 --chip "$chip" --raw "$dir/code@0x100" "$dir/many" 2>&1 |
		cmp - "$dir/one"
	ok $? "$chip: the same with --jobs 3"
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

# --guess: says how sure it is, and what it would take; the output is a parameter file.
{
	echo 'ProgTraceSync SRC=3 SYNC=3 F-ADDR=0x80'
	for _ in $(seq 2000); do echo 'ResourceFull SRC=3 RCODE=0 RDATA=1'; done
	echo 'ProgTraceCorrelation SRC=3 EVCODE=0 I-CNT=1'
} >"$dir/messages"
for ((i = 0; i < 2048; i++)); do printf '\001\000'; done >"$dir/code"
printf 'protocol = ntrace\nsrc_bits = 4\n' >"$dir/params"
"$TOP/build/host/rvt-asm" "$dir/params" <"$dir/messages" >"$dir/dump"
"$rv" decode --params "$dir/params" --raw "$dir/code@0x100" "$dir/dump" >"$dir/pcs"
"$rv" decode --guess --raw "$dir/code@0x100" "$dir/dump" >"$dir/guess" 2>&1
ok_or_show $? "--guess: exit status" "$dir/guess"
sed -n 2p "$dir/guess" >"$dir/out"
is "--guess: is sure" "# sure: the code is followed far without an error, which nothing else does" "$(cat "$dir/out")"
grep -qx 'src_bits = 4' "$dir/guess"
ok_or_show $? "--guess: the width of SRC" "$dir/guess"
"$rv" decode --params "$dir/guess" --raw "$dir/code@0x100" "$dir/dump" | cmp -s - "$dir/pcs"
ok $? "--guess: its output is a parameter file that decodes"
# In a ring the oldest byte is elsewhere.
{ tail -c 1000 "$dir/dump"; head -c -1000 "$dir/dump"; } >"$dir/ring"
"$rv" decode --guess --wrapped-at 1000 --raw "$dir/code@0x100" "$dir/ring" 2>&1 | sed 's/ring/dump/' | cmp - "$dir/guess"
ok $? "--guess --wrapped-at: the same"
# A dump that contradicts its parameters: which are the likely ones.
printf 'protocol = ntrace\nsrc_bits = 3\n' >"$dir/wrong"
"$rv" decode --params "$dir/wrong" --raw "$dir/code@0x100" "$dir/dump" >/dev/null 2>"$dir/err"
is "wrong parameters: exit status" 1 $?
grep -q 'contradicts its parameters. With these it does not: .*src_bits = 4' "$dir/err"
ok_or_show $? "wrong parameters: the likely ones are named" "$dir/err"
"$rv" decode --params "$dir/params" --raw "$dir/code@0x100" "$dir/dump" 2>"$dir/err" >/dev/null
is "right parameters: nothing is said" 0 "$(wc -l <"$dir/err")"
"$rv" decode --guess "$dir/dump" >"$dir/guess" 2>&1
sed -n 2p "$dir/guess" | grep -q "^# .*give --image\|^# likely: .*--image"
ok_or_show $? "--guess without code: wants it" "$dir/guess"
head -c 5000 /dev/zero | tr '\0' '\125' >"$dir/noise"
"$rv" decode --guess --raw "$dir/code@0x100" "$dir/noise" >"$dir/out" 2>"$dir/err"
is "--guess, not a trace: exit status" 1 $?
grep -q 'nothing that is known makes sense of it' "$dir/err" && ! grep -v '^#' "$dir/out"
ok_or_show $? "--guess, not a trace: no parameters" "$dir/out"

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
says "--guess with parameters" "leave --chip and --params out" decode --guess --chip p550 "$dir/dump"
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 prog 3000
says "--guess: a recording" "a recording, no bare dump: perf rvtrace script" decode --guess "$dir/perf.data"
says "a recording" "a recording, no bare dump: perf rvtrace script" decode --chip k3 --image "$dir/program" "$dir/perf.data"
says "--guess: no such dump" "nothing: No such file" decode --guess "$dir/nothing"
says "--guess: no such code" "nothing: No such file" decode --guess --image "$dir/nothing" "$dir/dump"
done_testing
