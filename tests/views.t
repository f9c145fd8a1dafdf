#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What options make of a recording. What is expected is worked out from the list of executed
# instructions (script --insn-trace=raw, which other tests compare with what a hart executed) and
# from what objdump takes these instructions for.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A program of eight functions, which two cpus execute.
build/host/rvt-recording "$dir/perf.data" "$dir/program" 0x1000 prog 3000
code=$dir/perf.data.program
part=$(($(stat -c %s "$code") / 8))
for ((i = 0; i < 8; i++)); do
	printf '.globl f%d\n.type f%d, @function\nf%d: .incbin "%s", %d, %d\n.size f%d, . - f%d\n' \
		$i $i $i "$code" $((part * i)) $part $i $i
done | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" -
riscv64-linux-gnu-ld -Ttext=0x80001000 -e f0 -o "$dir/program" "$dir/program.o"

# view COMMAND OPTION...: on the recording; notes about call stacks are no matter here.
view()
{
	"$rv" "$1" -i "$dir/perf.data" "${@:2}" 2>>"$dir/err"
}

# insns OPTION...: the executed instructions, a line "CPU TIME ADDRESS FUNCTION BYTES" each.
insns()
{
	view script --insn-trace=raw -F cpu,time,ip,sym,insn "$@" |
		sed 's/^\[0*\([0-9][0-9]*\)\] */\1 /; s/: */ /; s/ insn: / /'
}

# same NAME: $dir/expected and $dir/got are the same, and not empty.
same()
{
	[ -s "$dir/expected" ] && diff "$dir/expected" "$dir/got" >"$dir/difference"
	ok_or_show $? "$1" <(head -n 10 "$dir/difference")
}

insns >"$dir/all"
total=$(wc -l <"$dir/all")
[ "$total" -gt 5000 ]
ok $? "there is a list of instructions"

# ---- which ones: filters

awk '$1 == 1' "$dir/all" >"$dir/expected"
insns --cpu 1 >"$dir/got"
same "script --cpu 1"
middle=$(awk -v half=$((total / 2)) 'NR == half { print $2 }' "$dir/all")
awk -v from="$middle" '$2 >= from' "$dir/all" >"$dir/expected"
insns --time "$middle," >"$dir/got"
same "script --time FROM,"
awk -v to="$middle" '$2 <= to' "$dir/all" >"$dir/expected"
insns --time ",$middle" >"$dir/got"
same "script --time ,TO"
# From an eighth to a quarter, and another eighth from the middle on.
mapfile -t at < <(awk -v n="$total" 'NR == int(n / 8) || NR == int(n / 4) || NR == int(n / 2) ||
	NR == int(5 * n / 8) { print $2 }' "$dir/all")
awk -v a="${at[0]}" -v b="${at[1]}" -v c="${at[2]}" -v d="${at[3]}" \
	'$2 >= a && $2 <= b || $2 >= c && $2 <= d' "$dir/all" >"$dir/expected"
insns --time "${at[0]},${at[1]} ${at[2]},${at[3]}" >"$dir/got"
same "script --time: two"
insns --time "${at[2]},${at[3]} ${at[0]},${at[1]}" >"$dir/got"
same "script --time: in any order"
head -n 17 "$dir/all" >"$dir/expected"
insns --max-lines 17 >"$dir/got"
same "script --max-lines 17"
insns --jobs 3 >"$dir/got"
cp "$dir/all" "$dir/expected"
same "script --jobs 3"
insns --comms prog --tid 10 --pid 10 >"$dir/got"
same "script --comms, --tid, --pid of what ran"
for filter in "--comms none" "--tid 11" "--pid 11" "--cpu 2"; do
	# shellcheck disable=SC2086 # words
	is "script $filter: nothing" 0 "$(insns $filter | wc -l)"
done

# ---- where the flow went: transfers

# An instruction that does not lie behind the one before it on its cpu was reached by a transfer, and
# so was one behind a jump, call or return, which goes to where it lies.
awk '{
	if ($1 in next_ip && (next_ip[$1] != $3 || jumped[$1]))
		print $1, ip[$1], $3
	ip[$1] = $3
	next_ip[$1] = sprintf("%x", number($3) + NF - 4)
	jumped[$1] = NF == 8 ? is_jal(number($5) % 128) : is_short_jump(number($5), number($6))
}
function is_jal(opcode) { return opcode == 103 || opcode == 111 }
function is_short_jump(low, high) {
	return low % 4 == 1 && int(high / 32) == 5 ||
		low % 4 == 2 && int(high / 32) == 4 && !(int(low / 4) % 32) && (low > 127 || high % 16)
}
function number(text,    i, n) {
	for (i = 1; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}' "$dir/all" | sort >"$dir/jumps"
# transfers OPTION...: a line "CPU FLAGS FROM TO" each.
transfers()
{
	view script -F cpu,flags,ip,addr "$@" | sed 's/^\[0*\([0-9][0-9]*\)\] */\1 /; s/ => */ /'
}
transfers --itrace=b >"$dir/ends"
grep -v ' tr ' "$dir/ends" >"$dir/branches"
# A trap comes from the instruction that was to be executed next, and the trace ends before one. So
# the list lacks that one, and the transfer that leads to it.
columns() { awk '{ print $1, $(NF - 1), $NF }' | sort; }
grep -v ' int ' "$dir/branches" | columns >"$dir/others"
{ grep ' int ' "$dir/branches" | columns | cut -d' ' -f 1,2; grep ' tr end ' "$dir/ends" | columns | cut -d' ' -f 1,3; } |
	sort -u >"$dir/not-executed"
comm -12 "$dir/jumps" "$dir/others" >"$dir/both"
[ "$(wc -l <"$dir/both")" -gt 1000 ]
ok $? "script --itrace=b: transfers that the list of instructions has"
comm -23 "$dir/jumps" "$dir/others" | cut -d' ' -f 1,3 | sort -u >"$dir/got"
grep ' int ' "$dir/branches" | columns | cut -d' ' -f 1,3 | sort -u >"$dir/expected"
same "script --itrace=b: what else the list has leads to the handlers of traps"
comm -13 "$dir/jumps" "$dir/others" | cut -d' ' -f 1,3 | sort -u | comm -23 - "$dir/not-executed" >"$dir/difference"
[ ! -s "$dir/difference" ]
ok_or_show $? "script --itrace=b: no other, but to where a trap came or the trace ended" "$dir/difference"
transfers --branches | grep -v ' tr ' >"$dir/got"
cp "$dir/branches" "$dir/expected"
same "script --branches is --itrace=b"

# kinds NAME FLAG EXPRESSION: the transfers that FLAG marks are those of instructions that are such.
riscv64-linux-gnu-objdump -D -b binary -m riscv:rv64 -M no-aliases --adjust-vma=0x80001000 "$code" |
	sed -n 's/^ *\([0-9a-f]*\):\t[0-9a-f ]*\t/\1 /p' | tr '\t' ' ' >"$dir/disassembly"
kinds()
{
	grep -E "^[0-9a-f]+ ($3)" "$dir/disassembly" | cut -d' ' -f 1 | sort >"$dir/such"
	grep -vE ' (hw )?int ' "$dir/branches" | awk '{ print $(NF - 1) }' | sort |
		join - "$dir/such" >"$dir/expected"
	grep -E "^[0-9]+ $2 " "$dir/branches" | awk '{ print $(NF - 1) }' | sort >"$dir/got"
	same "$1"
}
kinds "flags: conditional jumps" jcc '(c\.)?b(eq|ne|lt|ge|eqz|nez)'
# x1 and x5 are link registers; what writes one and jumps to the other, a swap of coroutines, calls, too.
kinds "flags: calls" call 'jal (ra|t0),|c\.jalr|jalr (ra|t0),.*\((zero|sp|t1|t2)\)|jalr (ra|t0),.*\((ra|t0)\)'
kinds "flags: returns" return 'c\.jr (ra|t0)$|jalr (zero|sp|t1|t2),.*\((ra|t0)\)'
kinds "flags: returns from traps" iret '[sm]ret'
for kind in 'c:call|int' 'r:return|iret'; do
	grep -E " (${kind#*:}) " "$dir/branches" >"$dir/expected"
	transfers --itrace="${kind%%:*}" >"$dir/got"
	same "script --itrace=${kind%%:*}: the branches that are ${kind#*:}"
done

# ---- every so often

awk 'NR % 100 == 0 { print $1, $3 }' <(sort -s -k 1,1 "$dir/all" | awk '$1 == 0') >"$dir/expected"
view script --itrace=i100i -F cpu,ip --cpu 0 | sed 's/^\[0*\([0-9][0-9]*\)\] */\1 /' >"$dir/got"
same "script --itrace=i100i: each hundredth of a thread"
for period in 10 100 1000; do
	"$rv" inject -i "$dir/perf.data" -o "$dir/samples" --itrace=i${period}i 2>"$dir/said"
	is "inject --itrace=i${period}i: samples of each thread" \
		"$(awk -v period=$period '{ n[$1]++ } END { print int(n[0] / period) + int(n[1] / period) }' "$dir/all")" \
		"$(sed -n 's/.*inject: \([0-9]*\) samples .*/\1/p' "$dir/said")"
done

# Threads make the same samples, in files of the same bytes.
for letters in b c r I bcr i10il4; do
	SMALL_SLICES=500 "$rv-small-slices" inject -i "$dir/perf.data" -o "$dir/samples" --itrace=$letters --jobs 1 2>"$dir/said"
	echo "status $?" >>"$dir/said"
	for jobs in 2 3; do
		SMALL_SLICES=500 "$rv-small-slices" inject -i "$dir/perf.data" -o "$dir/samples.jobs" --itrace=$letters \
			--jobs $jobs 2>"$dir/said.jobs"
		echo "status $?" >>"$dir/said.jobs"
		[ "$letters" = I ] || [ "$(stat -c %s "$dir/samples")" -gt 20000 ]
		ok $? "inject --itrace=$letters: there are samples"
		check "inject --itrace=$letters --jobs $jobs: the same bytes" cmp "$dir/samples" "$dir/samples.jobs"
		check "inject --itrace=$letters --jobs $jobs: the same messages" \
			diff <(sed 's/samples in .*//' "$dir/said") <(sed 's/samples in .*//' "$dir/said.jobs")
	done
done
for jobs in 1 3; do
	is "inject --jobs $jobs: what cannot be written is an error" "perf-rvtrace inject: cannot write $dir/full: File too large 1" \
		"$( (trap '' XFSZ; ulimit -f 20; "$rv" inject -i "$dir/perf.data" -o "$dir/full" --itrace=b --jobs $jobs 2>&1; echo $?) |
			tail -n 2 | xargs)"
done

# ---- fields

for field in ip:3 time:2; do
	view script --insn-trace=raw -F "${field%:*}" | tr -d ' :' >"$dir/got"
	cut -d' ' -f "${field#*:}" "$dir/all" >"$dir/expected"
	same "-F ${field%:*}"
done
view script --itrace=i1i -F ip,insnlen | awk '{ print $1, $NF }' >"$dir/got"
awk '{ print $3, NF - 4 }' "$dir/all" >"$dir/expected"
same "-F insnlen: the length of the bytes that are shown"
view script --insn-trace=raw -F ip,symoff,sym | sed 's/^ *//; s/+0x/ /; s/ insn:.*//' >"$dir/got"
awk -v part=$part 'function number(text,    i, n) {
	for (i = 1; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}
{
	offset = number($3) - number("80001000")
	printf "%s f%d %x\n", $3, offset / part, offset % part
}' "$dir/all" >"$dir/expected"
cut -d' ' -f 2 "$dir/expected" >"$dir/functions"
same "-F sym,symoff: the function's part of the code"
view script --insn-trace=raw -F sym | sed 's/^ *//; s/ insn:.*//' >"$dir/names"
check "-F sym: the same functions without their addresses" diff "$dir/functions" "$dir/names"
view script --itrace=i1i -F comm,pid,tid,ip,dso | awk '{ print $1, $2, $4 }' | sort -u >"$dir/got"
echo "prog 10/10 ($dir/program)" >"$dir/expected"
same "-F comm,pid,tid,dso"

# ---- sums

# rows: instructions and the last two columns of each row of a report.
rows() { grep -v '^#' | awk 'NF { print $2, $(NF - 1), $NF }'; }
cut -d' ' -f 4 "$dir/all" | sort | uniq -c | awk '{ print $1, $2 }' | sort >"$dir/functions"
view report -s sym | rows | awk '{ print $1, $3 }' | sort >"$dir/got"
cp "$dir/functions" "$dir/expected"
same "report -s sym: instructions of each function"
view report -s cpu,sym | grep -v '^#' | awk 'NF { print $2, $5 + 0, $NF }' | sort >"$dir/got"
awk '{ print $1, $4 }' "$dir/all" | sort | uniq -c | awk '{ print $1, $2, $3 }' | sort >"$dir/expected"
same "report -s cpu,sym"
for key in comm pid tid dso comm,pid,tid; do
	is "report -s $key: one row with all" "$total" "$(view report -s $key | rows | cut -d' ' -f 1)"
done
view report -s sym --percent-limit 10 | rows | awk '{ print $1, $3 }' | sort >"$dir/got"
awk -v total="$total" '$1 * 10 >= total' "$dir/functions" >"$dir/expected"
same "report --percent-limit 10"
view report -s sym --max-lines 3 | rows | awk '{ print $1, $3 }' >"$dir/got"
sort -rn "$dir/functions" | head -n 3 >"$dir/expected"
same "report --max-lines 3: those with most"
view report -s sym -S f1,f6 | rows | awk '{ print $1, $3 }' | sort >"$dir/got"
grep -E ' f[16]$' "$dir/functions" >"$dir/expected"
same "report -S f1,f6"
is "report -d program" "$total" "$(view report -s dso -d program | rows | cut -d' ' -f 1)"
is "report -d of another file" "" "$(view report -s dso -d other | rows)"
view report -s sym --cpu 1 | rows | awk '{ print $1, $3 }' | sort >"$dir/got"
awk '$1 == 1 { print $4 }' "$dir/all" | sort | uniq -c | awk '{ print $1, $2 }' | sort >"$dir/expected"
same "report --cpu 1"
view stat | awk '$1 ~ /^([01]|all)$/ { print $1, $3 }' >"$dir/got"
awk '{ n[$1]++ } END { for (c = 0; c < 2; c++) print c, n[c]; print "all", NR }' "$dir/all" >"$dir/expected"
same "stat: instructions of each cpu"
view stat --cpu 1 | awk '$1 ~ /^([01]|all)$/' >"$dir/got"
view stat | awk '$1 == 1 { print; sub(/^1  /, "all"); print }' >"$dir/expected"
same "stat --cpu: only this one"
# What is counted are runs up to a branch, of which the first and the last can reach out of the time.
last=$(sort -n -k 2 "$dir/all" | awk 'END { print $2 }')
for range in "$middle,$last" "0,$middle" "${at[0]},${at[3]}"; do
	view stat --json --time "$range" |
		sed -n 's/.*"all".*"insns":\([0-9]*\).*"from":\([0-9]*\),"to":\([0-9]*\).*/\1 \2 \3/p' |
		awk -v range="$range" -v n="$(insns --time "$range" | wc -l)" '{ split(range, at, ",") }
			$1 < n - 20 || $1 > n + 20 { print "not", n, "instructions:", $1 }
			$2 / 1e9 < at[1] - 1e-10 || $3 / 1e9 > at[2] + 1e-10 || $2 >= $3 { print "seconds", $0 }
			END { print NR }' >"$dir/got"
	echo 1 >"$dir/expected"
	same "stat --time $range"
done
is "stat --time: traps" "$(view script --itrace=I --time "$middle," | grep -c ' int ')" \
	"$(view stat --time "$middle," | awk '$1 == "all" { print $5 }')"
is "stat --time: no rates" "- -" "$(view stat --time "$middle," | awk '$1 == "all" { print $4, $9 }')"
is "stat --comms: no rates" "- -" "$(view stat --comms prog | awk '$1 == "all" { print $4, $9 }')"
view profile -f folded | awk '{ n += $NF } END { print n }' >"$dir/got"
echo "$total" >"$dir/expected"
same "profile -f folded: all instructions"
is "profile -f counts: all instructions" "$total" \
	"$(view profile -f counts | awk '$1 == "ran" { n += $NF } END { print n }')"

# Threads count calling contexts as one thread does, and print each instruction, wherever their slices begin.
for command in "report -g --json" "profile -f folded" "profile -f callgrind" "script --itrace=i1i -F +period" \
	"script --itrace=bi0ns"; do
	for jobs in 1 2 3; do
		# shellcheck disable=SC2086 # they are several words
		SMALL_SLICES=500 "$rv-small-slices" $command -i "$dir/perf.data" --jobs $jobs >"$dir/jobs.$jobs" 2>"$dir/said.$jobs"
	done
	[ "$(wc -l <"$dir/jobs.1")" -gt 20 ]
	ok $? "$command: there are lines"
	for jobs in 2 3; do
		check "$command --jobs $jobs: the same" cmp "$dir/jobs.1" "$dir/jobs.$jobs"
		check "$command --jobs $jobs: the same messages" cmp "$dir/said.1" "$dir/said.$jobs"
	done
done

# ---- only some functions and files

# What is below a function is in the whole tree at several places.
view report -g | awk '$4 ~ /^f[0-7]$/ { n[$4] += $3 } END { for (f in n) print f, n[f] }' | sort >"$dir/expected"
for ((i = 0; i < 8; i++)); do
	view report -g -S f$i | awk -v name=f$i '$4 == name { n += $3 } END { if (NR) print name, n }'
done >"$dir/got"
same "report -g -S: all that the function executed"
view report -g -d program | awk '!/^#/ && !/^ {34,}/ { n += $3 } END { print n }' >"$dir/got"
echo "$total" >"$dir/expected"
same "report -g -d: all that the file executed, once"
for command in "report" "report -g" "report -g callee" annotate latency "script --itrace=c --max-lines 40"; do
	# shellcheck disable=SC2086 # they are several words
	view $command --dsos none,program >"$dir/expected"
	# shellcheck disable=SC2086
	view $command --dsos "none,$dir/program" >"$dir/got"
	same "$command --dsos: the file, with and without directories"
	# shellcheck disable=SC2086
	"$rv" $command --dsos none -i "$dir/perf.data" 2>&1 | grep -q "nothing that ran passes the filters --symbols and --dsos"
	ok $? "$command --dsos: a file that is not there"
done

# ---- times since another line

# view_times OPTION...: of each instruction cpu, time in ns, address
view_times()
{
	view script --insn-trace=raw -F cpu,time,ip "$@" |
		sed 's/^\(\[[0-9]*\]\) *\([0-9]*\)\.\([0-9]*\):/\1 \2\3/'
}
for option in --jobs=2 --by-cpu; do
	view_times $option >"$dir/whole"
	awk 'NR == 1 { base = $2 } { print $1, $2 - base, $3 }' "$dir/whole" >"$dir/expected"
	view_times $option --reltime | awk '{ print $1, $2 + 0, $3 }' >"$dir/got"
	same "script --reltime $option"
	awk '{ print $1, NR == 1 ? 0 : $2 - base, $3; base = $2 }' "$dir/whole" >"$dir/expected"
	view_times $option --deltatime | awk '{ print $1, $2 + 0, $3 }' >"$dir/got"
	same "script --deltatime $option"
done

# ---- what tells nothing is no answer

: >"$dir/empty"
echo "0000000000000000 T _start" >"$dir/zero"
cp /etc/passwd "$dir/other"
for option in kallsyms guestkallsyms; do
	for file in "$dir"/empty "$dir"/zero "$dir"/other; do
		"$rv" report --$option "$file" --guestvmlinux "$dir/program" -i "$dir/perf.data" 2>&1 |
			grep -q "no copy of /proc/kallsyms with addresses"
		ok $? "--$option ${file##*/}: has no addresses"
	done
done
view report --kallsyms <(echo "0000000080001000 t one") | grep -q instructions
ok $? "--kallsyms: one address will do"
# As `perf record --kcore` writes it where not even root sees addresses: all else is decoded.
mkdir -p "$dir/recorded/kcore_dir"
cp "$dir/perf.data" "$dir/recorded/data"
view report >"$dir/expected"
echo "00000000800010f0 t one" >"$dir/address"
for file in zero address; do
	cp "$dir/$file" "$dir/recorded/kcore_dir/kallsyms"
	"$rv" report -i "$dir/recorded" >"$dir/got" 2>"$dir/said"
	same "a directory whose kallsyms has $file: the same report"
	is "... it is said that there are no addresses" $([ $file = zero ] && echo 1 || echo 0) \
		"$(grep -c "has no addresses, so the kernel's functions have no names" "$dir/said")"
done
"$rv" script --data -i "$dir/perf.data" 2>&1 | grep -q "its encoder makes no data trace"
ok $? "script --data: there is no data trace"

# ---- where nothing passes the filters, nothing is said of what did not pass

for command in annotate latency "export --sqlite $dir/nobody.db"; do
	# shellcheck disable=SC2086
	"$rv" $command --comms nobody -i "$dir/perf.data" >"$dir/got" 2>&1
	grep -q "no time stamps" "$dir/got"
	is "$command --comms nobody: nothing about time stamps" 1 $?
	grep -q "nothing that ran passes the filters" "$dir/got"
	ok $? "$command --comms nobody: nothing passes"
done
done_testing
