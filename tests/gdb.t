#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf rvtrace gdb: gdb and LLDB go through recordings, forwards and backwards. What is expected is
# worked out from the list of instructions that Unicorn executed for the recording.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# twice() calls once() two times, and main() that three times; framed() has a frame pointer.
cat >"$dir/program.S" <<'END'
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined ra
	li s1, 3
again:	mv a0, s1
	call twice
	addi s1, s1, -1
	bnez s1, again
	call framed
	li a7, 93
LAST
	.cfi_endproc
	.size _start, . - _start
	.type twice, @function
twice:
	.cfi_startproc
	addi sp, sp, -16
	.cfi_def_cfa_offset 16
	sd ra, 8(sp)
	.cfi_offset ra, -8
	call once
	call once
	ld ra, 8(sp)
	.cfi_restore ra
	addi sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size twice, . - twice
	.type once, @function
once:
	.cfi_startproc
	li t0, 5
1:	addi t0, t0, -1
	bnez t0, 1b
	addi a0, a0, 1
	ret
	.cfi_endproc
	.size once, . - once
	.type framed, @function
framed:
	.cfi_startproc
	addi sp, sp, -32
	.cfi_def_cfa_offset 32
	sd ra, 24(sp)
	sd s0, 16(sp)
	.cfi_offset ra, -8
	.cfi_offset s0, -16
	addi s0, sp, 32
	.cfi_def_cfa s0, 0
	call twice
	ld ra, 24(sp)
	ld s0, 16(sp)
	.cfi_restore ra
	.cfi_restore s0
	.cfi_def_cfa sp, 32
	addi sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size framed, . - framed
	.section .rodata
words:	.asciz "read only"
	.data
number:	.quad 4711
	# "for GNU/Linux", as programs have it: gdb would not let the server step
	.section .note.ABI-tag, "a", @note
	.long 4, 16, 1
	.asciz "GNU"
	.long 0, 4, 15, 0
END
# build NAME INSTRUCTION: which is the last one.
build()
{
	sed "s/^LAST/	$2/" "$dir/program.S" >"$dir/$1.S"
	riscv64-linux-gnu-as -g -march=rv64gc -mno-relax -o "$dir/$1.o" "$dir/$1.S" &&
		riscv64-linux-gnu-ld --no-relax -e _start -o "$dir/$1" "$dir/$1.o"
}
build exits ecall
build crashes "ld a0, 0(zero)"
# Some million instructions, most of them in busy(); its code has 16 bytes in common with that of
# seldom(), and an instruction that is never executed.
cat >"$dir/far.S" <<'END'
	.globl _start
	.type _start, @function
_start:
	.cfi_startproc
	.cfi_undefined ra
	call seldom
	call busy
	li a7, 93
	ecall
	.cfi_endproc
	.size _start, . - _start
	.balign 16
	.type seldom, @function
seldom:
	.cfi_startproc
	ret
	.cfi_endproc
	.size seldom, . - seldom
	.type rounds, @function
rounds:
	.cfi_startproc
	li t0, 300000
1:	andi t1, t0, 1
	beqz t1, 2f
	addi t2, t2, 1
2:	addi t0, t0, -1
	bnez t0, 1b
	ret
never:	nop
	.cfi_endproc
	.size rounds, . - rounds
	.type busy, @function
busy:
	.cfi_startproc
	addi sp, sp, -16
	.cfi_def_cfa_offset 16
	sd ra, 8(sp)
	.cfi_offset ra, -8
	call rounds
	call seldom
	call rounds
	ld ra, 8(sp)
	.cfi_restore ra
	addi sp, sp, 16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size busy, . - busy
END
sed -n '/^	.section .note/,$p' "$dir/program.S" >>"$dir/far.S"
riscv64-linux-gnu-as -g -march=rv64gc -mno-relax -o "$dir/far.o" "$dir/far.S" &&
	riscv64-linux-gnu-ld --no-relax -e _start -o "$dir/far" "$dir/far.o"
build/host/rvt-execute "$dir/exits.data" "$dir/exits" || skip_all "built without Unicorn"
build/host/rvt-execute "$dir/threads.data" "$dir/exits" threads
build/host/rvt-execute "$dir/far.data" "$dir/far"
build/host/rvt-execute "$dir/crashes.data" "$dir/crashes"
build/host/rvt-execute "$dir/lost.data" "$dir/exits" lost

address() { riscv64-linux-gnu-nm "$dir/exits" | sed -n "s/^0*\([0-9a-f]*\) . $1$/\1/p"; }
twice=$(address twice)
once=$(address once)
framed=$(address framed)
total=$(wc -l <"$dir/exits.data.insns")
# Where ADDRESS is the first, second ... time: numbers of instructions.
numbers() { awk -v pc="$1" '$1 == 10 && $2 == pc { print NR - 1 }' "$dir/exits.data.insns" | tr '\n' ' '; }

# ---- packets, whatever comes

# server RECORDING [OPTION...]: what it answers to the packets on standard input, a line each; those
# that begin with "raw:" are sent as they are.
cat >"$dir/server.py" <<'END'
import subprocess
import sys

def frame(data):
    return b"$" + data + b"#%02x" % (sum(data) & 255)

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
out = b""
for line in sys.stdin.buffer:
    line = line.rstrip(b"\n")
    out += eval(b"b'" + line[4:] + b"'") if line.startswith(b"raw:") else frame(line)
answer, _ = process.communicate(out, timeout=60)
body = answer.split(b"$")[1:]
for packet in body:
    data = packet[:packet.rfind(b"#")]
    print(data.replace(b"\n", b"").decode("latin1"))
sys.exit(process.returncode)
END
server() { timeout 60 python3 "$dir/server.py" "${program:-$rv}" gdb -i "$dir/$1.data" "${@:2}"; }

is "a thread" mal "$(printf '%s\n' qfThreadInfo qsThreadInfo | server exits | tr -d '\n')"
is "registers that are not known are not told" "$(printf 'x%.0s' {1..16})" \
	"$(printf '%s\n' pa | server exits)"
is "x0 is known" 0000000000000000 "$(printf '%s\n' p0 | server exits)"
is "a sum that is wrong is not executed" "" "$(printf '%s\n' 'raw:$p0#00' | server exits)"
is "escapes" "$(printf '%s\n' p20 | server exits)" "$(printf '%s\n' 'raw:$}P20#2f' | server exits)"
is "what is unknown is empty" "" "$(printf '%s\n' vMustReplyEmpty qNothing | server exits | tr -d '\n')"
# goes TEXT: what `monitor goto TEXT` says, for people.
goes()
{
	printf 'qRcmd,%s\n' "$(printf 'goto %s' "$1" | od -An -v -tx1 | tr -d ' \n')" | server exits |
		sed -n 's/^O\([0-9a-f]*\)$/\1/p' | python3 -c 'import sys; print(bytes.fromhex(sys.stdin.read()).decode(), end="")'
}
for text in -1 nan inf 0x10 1.5x '#5x' '#-1' '#' '#99999999999999999999999'; do
	is "monitor goto $text" "monitor goto: '$text' is no position; give begin, end, a time in seconds or #NUMBER" \
		"$(goes "$text" | head -n 1)"
done
grep -q 'no position' <<<"$(goes '#3')"
is "monitor goto #3" 1 $?
is "thread that is not there" E01 "$(printf '%s\n' Hg77 | server exits)"
is "memory that is not known" E14 "$(printf '%s\n' m0,8 | server exits)"
is "nothing can be written" "E01 E01 " "$(printf '%s\n' "M$twice,1:00" G00 | server exits | tr '\n' ' ')"
# what the debugger reads is the file, but for the type of the note
note=$(($(riscv64-linux-gnu-readelf -SW "$dir/exits" | sed -n 's/.*\.note\.ABI-tag *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p') + 8))
read_file()
{
	printf '%s\n' "$@" "vFile:open:$(printf %s "$dir/exits" | od -An -v -tx1 | tr -d ' \n'),0,0" \
		"vFile:pread:0,8,$(printf %x $((note - 2)))" | server exits | tail -n 1 | od -An -v -tx1 | tr -d ' \n'
}
bytes=$(od -An -v -tx1 -j $((note - 2)) -N 8 "$dir/exits" | tr -d ' \n')
is "gdb reads the program without the note that it is for Linux" "46383b${bytes:0:4}00000000${bytes:12}0a" "$(read_file qNothing)"
is "LLDB reads it as it is" "46383b${bytes}0a" "$(read_file QThreadSuffixSupported)"
is "too long a packet" E22 "$(printf 'm%020000d\n' 1 | server exits)"
is "no file but the program's" "F-1,2" "$(printf 'vFile:open:%s,0,0\n' "$(printf /etc/passwd | od -An -tx1 | tr -d ' \n')" | server exits)"
hostile()
{
	printf '%s\n' H Hg Hc Hgffffffffffffffffffff T T-5 p p99999999 pffffffffffffffff P P20 P66=00 m m, m1 m1, \
		mffffffffffffffff,ffffffffffffffff Z0 Z0, Z9,1,1 z1 vCont 'vCont;' 'vCont;c:' 'vCont;s:77' 'vCont;r' 'vCont;r1,2,3' \
		'vCont;r0,ffffffffffffffff' 'vCont;z' 'vCont;C' qXfer: qXfer:features:read:target.xml \
		'qXfer:features:read:target.xml:ffffffffffffffff,ffffffffffffffff' 'qXfer:auxv:read::,' qRcmd, qRcmd,zz \
		"qRcmd,$(printf 'goto -1' | od -An -tx1 | tr -d ' \n')" "qRcmd,$(printf 'goto #99999999999999999999999' | od -An -tx1 | tr -d ' \n')" \
		"qRcmd,$(printf 'goto nan' | od -An -tx1 | tr -d ' \n')" vFile:pread:ff,ff,ff vFile:open: vFile:fstat: vFile:close:99 \
		'raw:$$$$$' 'raw:$}#7d' 'raw:\x03\x03\x03' 'raw:$\x00\x00#00' 'raw:+-+-----' 'raw:$p0#' bc bs b 'P66=ffffffffffffffff' s bs
	head -c 20000 /dev/urandom | od -An -v -tx1 | tr -d '\n' | sed 's/ /\\x/g; s/^/raw:/'
	echo
	printf '%s\n' p0
}
program=$TOP/build/asan/perf-rvtrace
[ -x "$program" ] || program=$rv
hostile | server exits >"$dir/out"
[ $? -lt 2 ] && [ -s "$dir/out" ]
ok_or_show $? "hostile packets" "$dir/out"
program=$rv

# ---- gdb

gdb=$(command -v gdb-multiarch || command -v gdb)
# in_gdb RECORDING [OPTION...]: commands on standard input.
in_gdb()
{
	{
		printf '%s\n' 'set pagination off' 'set confirm off' 'set width 0' 'set architecture riscv:rv64' \
			"target remote | $rv gdb -i $dir/$1.data ${*:2}"
		cat
	} >"$dir/script"
	timeout 120 "$gdb" -nx -batch -x "$dir/script" </dev/null >"$dir/out" 2>"$dir/err"
}
# Numbers of instructions that `p $trace_insn` told.
told() { sed -n 's/^\$[0-9]* = \([0-9]*\)$/\1/p' "$dir/out" | tr '\n' ' '; }

if [ -z "$gdb" ] || ! "$gdb" -nx -batch -ex 'set architecture riscv:rv64' 2>&1 | grep -q riscv; then
	ok 0 "gdb # SKIP there is no gdb for RISC-V (package gdb-multiarch)"
else
	# each instruction, forwards and backwards
	{
		for ((i = 0; i < 40; i++)); do echo 'p/x (long)$pc'; echo stepi; done
		for ((i = 0; i < 40; i++)); do echo reverse-stepi; echo 'p/x (long)$pc'; done
	} | in_gdb exits
	head -n 40 "$dir/exits.data.insns" | cut -d' ' -f 2 >"$dir/first"
	{ cat "$dir/first"; tac "$dir/first"; } >"$dir/expected"
	sed -n 's/^\$[0-9]* = 0x//p' "$dir/out" >"$dir/got"
	diff "$dir/expected" "$dir/got" >"$dir/difference"
	ok_or_show $? "gdb: stepi, reverse-stepi" "$dir/difference"
	# shellcheck disable=SC2016 # gdb's
	printf '%s\n' 'break *&once' continue 'p $trace_insn' continue 'p $trace_insn' continue 'p $trace_insn' \
		reverse-continue 'p $trace_insn' reverse-continue 'p $trace_insn' reverse-continue | in_gdb exits
	read -r -a at <<<"$(numbers "$once")"
	is "gdb: continue and reverse-continue to a breakpoint" "${at[0]} ${at[1]} ${at[2]} ${at[1]} ${at[0]} " "$(told)"
	grep -q 'No more reverse-execution history' "$dir/out"
	ok_or_show $? "gdb: the beginning" "$dir/out"
	# once() from twice() from framed() from _start
	printf '%s\n' 'break *&framed' continue delete 'break *&once' continue backtrace finish 'p $trace_insn' \
		reverse-finish 'p $trace_insn' up 'info registers a0' | in_gdb exits
	is "gdb: who called" "once twice framed _start " \
		"$(sed -n 's/^#[0-9]* .*\b\(once\|twice\|framed\|_start\) ().*/\1/p' "$dir/out" | head -n 4 | tr '\n' ' ')"
	read -r -a at <<<"$(numbers "$once")"
	back=$(awk -v n="${at[6]}" 'NR - 1 > n && $2 != last { print $2, NR - 1 } { last = $2 }' "$dir/exits.data.insns" |
		awk -v ret="$(riscv64-linux-gnu-objdump -d "$dir/exits" | awk '/<once>:/ { on = 1 } on && /ret/ { sub(":", "", $1); print $1; exit }')" \
			'seen { print $2; exit } $1 == ret { seen = 1 }')
	is "gdb: finish, and back" "$back ${at[6]} " "$(told)"
	grep -q '^a0 *<unavailable>' "$dir/out"
	ok_or_show $? "gdb: a0 is unavailable" "$dir/out"
	# next goes over calls: from line to line of _start
	{
		echo 'stepi'
		for ((i = 0; i < 4; i++)); do echo next; echo 'p $trace_insn'; done
		for ((i = 0; i < 3; i++)); do echo reverse-next; echo 'p $trace_insn'; done
		echo step; echo step; echo 'info symbol $pc'
	} | in_gdb exits
	read -r -a at <<<"$(numbers "$(address again)")"
	[ "$(told | cut -d' ' -f 4)" = "${at[1]}" ] && [ "$(told | cut -d' ' -f 1,7)" = "2 2" ]
	ok_or_show $? "gdb: next and reverse-next go over calls" "$dir/out"
	# losses are told when they are crossed
	printf '%s\n' continue 'monitor losses' | in_gdb lost
	cat "$dir/err" >>"$dir/out"
	grep -q 'trace is lost before instruction' "$dir/out" && grep -q 'NOT ALL of the flow is here' "$dir/out"
	ok_or_show $? "gdb: a loss is told" "$dir/out"
	# the end
	printf '%s\n' 'p/x (long)$pc' reverse-stepi 'p/x (long)$pc' | in_gdb crashes
	last=$(tail -n 1 "$dir/crashes.data.insns" | cut -d' ' -f 2)
	is "gdb: begins at the crash" "0x$(printf %x $((0x$last + 4))) 0x$last" "$(sed -n 's/^\$[0-9]* = //p' "$dir/out" | tr '\n' ' ' | sed 's/ $//')"
	printf '%s\n' 'continue' | in_gdb crashes --start begin
	grep -q SIGSEGV "$dir/out"
	ok_or_show $? "gdb: runs to the crash" "$dir/out"
	# what can be read
	printf '%s\n' 'p (char *)&words' 'p *(long *)&number' | in_gdb exits
	grep -q '"read only"' "$dir/out" && grep -q 'Cannot access memory' "$dir/err"
	ok_or_show $? "gdb: constants can be read, variables cannot" "$dir/out"
	# a file of gdb's own says that it is for Linux
	printf '%s\n' "file $dir/exits" "target remote | $rv gdb -i $dir/exits.data" stepi >"$dir/script"
	timeout 120 "$gdb" -nx -batch -x "$dir/script" </dev/null >"$dir/out" 2>&1
	grep -q 'give it `set osabi none`' "$dir/out"
	ok_or_show $? "gdb with a program of Linux of its own: says what to do" "$dir/out"
	# over more than is kept of it, both ways
	# shellcheck disable=SC2016 # gdb's
	printf '%s\n' 'p $trace_insn' 'break *&seldom' 'break *&never' reverse-continue 'p $trace_insn' backtrace reverse-continue \
		'p $trace_insn' reverse-continue 'p $trace_insn' continue 'p $trace_insn' continue 'p $trace_insn' \
		reverse-stepi 'p $trace_insn' | in_gdb far --start end
	seldom=$(riscv64-linux-gnu-nm "$dir/far" | sed -n 's/^0*\([0-9a-f]*\) . seldom$/\1/p')
	read -r -a at <<<"$(awk -v pc="$seldom" '$2 == pc { print NR - 1 }' "$dir/far.data.insns" | tr '\n' ' ')"
	last=$(($(wc -l <"$dir/far.data.insns")))
	is "gdb: over millions of instructions" "$last ${at[1]} ${at[0]} 0 ${at[0]} ${at[1]} $((at[1] - 1)) " "$(told)"
	is "gdb: who called, behind millions of instructions" "seldom busy _start " \
		"$(sed -n 's/^#[0-9]* .*\b\(seldom\|busy\|_start\) ().*/\1/p' "$dir/out" | tr '\n' ' ')"
	# two threads
	printf '%s\n' 'info threads' 'break *&framed' continue 'p $_gthread' continue 'p $_gthread' 'p $trace_time' reverse-continue \
		'p $_gthread' 'set $trace_time = 0' 'p $trace_insn' | in_gdb threads
	is "gdb: both threads come to the breakpoint, in their order" "1 2 1 0 " "$(told | awk '{ print $1, $2, $4, $5, "" }')"
fi

# ---- a part, by time

# part OPTION...: the first instructions of what is around the second call of seldom(), and how many
# there are.
seldom=$(riscv64-linux-gnu-nm "$dir/far" | sed -n 's/^0*\([0-9a-f]*\) . seldom$/\1/p')
when=$("$rv" script -i "$dir/far.data" --itrace=c --symbols seldom -F time | sed -n '2s/[^0-9]*\([0-9.]*\).*/\1/p')
around=$(awk -v t="$when" 'BEGIN { printf "%.9f,%.9f", t - 0.0002, t + 0.0002 }')
part()
{
	{
		for ((i = 0; i < 2000; i++)); do printf '%s\n' p20 s; done
		printf 'qRcmd,%s\n' "$(printf threads | od -An -v -tx1 | tr -d ' \n')"
	} | server far --time "$around" "$@" >"$dir/packets"
	grep -E '^[0-9a-f]{16}$' "$dir/packets" | uniq
	sed -n 's/^O\([0-9a-f]*\)$/\1/p' "$dir/packets" | python3 -c 'import sys; print(bytes.fromhex(sys.stdin.read()).decode(), end="")'
}
part >"$dir/part"
python3 - "$dir" "$seldom" <<'END'
import struct, sys
truth = [line.split()[1] for line in open(sys.argv[1] + "/far.data.insns")]
lines = [line.split() for line in open(sys.argv[1] + "/part")]
told = ["%x" % struct.unpack("<Q", bytes.fromhex(line[0])) for line in lines if len(line) == 1]
insns = int(lines[-1][lines[-1].index("instructions,") - 1])
second = truth.index(sys.argv[2], truth.index(sys.argv[2]) + 1)
begin = second - told.index(sys.argv[2])
sys.exit(not (truth[begin:begin + len(told)] == told and begin > 0 and len(told) <= insns < len(truth) / 10))
END
ok_or_show $? "--time: only what ran then, as it was executed" "$dir/part"
if [ -x build/host/perf-rvtrace-small-slices ]; then
	SMALL_SLICES=16384 build/host/perf-rvtrace-small-slices index -i "$dir/far.data"
	part >"$dir/indexed"
	diff "$dir/part" "$dir/indexed" >"$dir/diff"
	ok_or_show $? "--time with an index: the same" "$dir/diff"
	# shellcheck disable=SC2016 # a packet
	printf '$p20#d2' | timeout 60 "$rv" gdb -i "$dir/far.data" --time "$around" --verbose 2>&1 >"$dir/out" | tee "$dir/said" |
		sed -n 's/.* \([0-9]*\) of \([0-9]*\) bytes of trace are decoded.*/\1 \2/p' |
		{ read -r chosen whole && [ "$chosen" -gt 0 ] && [ "$chosen" -lt $((whole / 4)) ]; }
	ok_or_show $? "--time with an index: only that is decoded" "$dir/said"
	rm "$dir/far.data.rvtrace-index"
fi

# ---- LLDB

lldb=$(for n in {30..18}; do command -v lldb-$n && break; done)
# in_lldb RECORDING [OPTION...]: the same.
in_lldb()
{
	"$rv" gdb -i "$dir/$1.data" --listen "$dir/socket" "${@:2}" 2>"$dir/err" &
	local server=$!

	for ((i = 0; i < 100; i++)); do
		[ ! -S "$dir/socket" ] || break
		sleep 0.1
	done
	{
		printf '%s\n' 'settings set target.process.disable-memory-cache true' "target create $dir/$1" "process connect --plugin gdb-remote unix-connect://$dir/socket"
		cat
		printf '%s\n' detach quit
	} >"$dir/script"
	timeout 120 "$lldb" -b -s "$dir/script" </dev/null >"$dir/out" 2>&1
	wait $server
}
registers() { sed -n 's/^ *'"$1"' = 0x0*\([0-9a-f]*\).*/\1/p' "$dir/out" | tr '\n' ' '; }

if [ -z "$lldb" ]; then
	ok 0 "LLDB # SKIP there is no LLDB that knows RISC-V (package lldb-19)"
else
	for ((i = 0; i < 10; i++)); do echo 'register read pc'; echo 'thread step-inst'; done | in_lldb exits
	is "LLDB: step-inst" "$(head -n 10 "$dir/exits.data.insns" | cut -d' ' -f 2 | tr '\n' ' ')" "$(registers pc)"
	printf '%s\n' "breakpoint set -a 0x$framed" continue 'register read trace_insn' "breakpoint set -a 0x$once" continue \
		'thread backtrace' 'thread step-out' 'register read a0' 'process plugin packet monitor stack' | in_lldb exits
	is "LLDB: continue to a breakpoint" "$(printf '%x ' $(numbers "$framed"))" "$(registers trace_insn)"
	is "LLDB: who called" "once twice framed _start " \
		"$(sed -n '/thread backtrace/,/step-out/s/.*frame #[0-3]: 0x[0-9a-f]* exits`\([a-z_]*\).*/\1/p' "$dir/out" | tr '\n' ' ')"
	grep -q 'stop reason = step out' "$dir/out" && grep -q '^a0 *= error: unavailable' "$dir/out"
	ok_or_show $? "LLDB: step-out; a0 is unavailable" "$dir/out"
fi
done_testing
