#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf rvtrace gdb in a recording of more than 10^8 instructions: where it goes back to is where the
# emulator was, and how much processor time the server takes for it, from /proc, so that what else the
# machine does is no matter.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workload" workload far -g -no-pie
guest main testing '' '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o /tmp/perf.data -e rvtrace//u -- taskset -c 1 ./far || exit 2
	mv /tmp/perf.data .'
ok $? "a program of more than 10^8 instructions is recorded"

symfs=$dir/share:$("$LAB" path guest)
address() { "$LAB" in riscv64-linux-gnu-nm "$dir/share/far" | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print $1 }'; }
cause=$(address cause)
effect=$(address effect)
work=$(address work)
tid=$(($("$HOST/perf-rvtrace" script -i "$dir/share/perf.data" --symfs "$symfs" --comms far -F tid \
	--max-lines 1 2>/dev/null)))
# How many instructions are from the call of cause() to that of effect().
apart=$("$HOST/rvt-truth" --pc --prv 0 --scontext $tid "$dir/truth/truth.1" |
	awk -v cause="$cause" -v effect="$effect" '{ sub(/^0*/, "") } $1 == cause { n = NR } $1 == effect { print NR - n }')
check "they are more than 10^8 instructions apart" test "$apart" -gt 100000000

# One line for each packet: ms of processor time until the answer, and the answer.
cat >"$dir/packets.py" <<'END'
import os, subprocess, sys

server = subprocess.Popen(sys.argv[1].split("\n"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def ms():
    fields = open(f"/proc/{server.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")

for packet in sys.argv[2:]:
    before, data = ms(), packet.encode()
    server.stdin.write(b"$" + data + b"#%02x" % (sum(data) & 255))
    server.stdin.flush()
    answer = b""
    while not (b"$" in answer and answer.endswith(b"#")):
        answer += server.stdout.read(1)
    server.stdout.read(2)
    server.stdin.write(b"+")
    print(ms() - before, answer[answer.index(b"$") + 1:-1].decode("latin1"))
END
# packets PACKET...: to a server that begins at the end.
packets()
{
	python3 "$dir/packets.py" "$(printf '%s\n' "$HOST/perf-rvtrace" gdb -i "$dir/share/perf.data" \
		--symfs "$symfs" --start end)" "$@" >"$dir/packets" 2>"$dir/packets.err"
}
# took LINE: ms of the packet of that number, if it took less than 1 s.
took()
{
	local ms

	ms=$(sed -n "$1"'s/ .*//p' "$dir/packets")
	echo "# $2: $ms ms of processor time"
	[ -n "$ms" ] && [ "$ms" -lt 1000 ]
}

packets qfThreadInfo g "Z0,$effect,2" bc p45 "z0,$effect,2" "Z0,$cause,2" bc p45 bs p45 s "z0,$cause,2" \
	"Z0,$(printf %x $((0x$work + 1))),2" "Z0,$effect,2" c "z0,$effect,2" bc
ok_or_show $? "the server answers" "$dir/packets.err"
number() { python3 -c 'import sys; print(int.from_bytes(bytes.fromhex(sys.argv[1]), "little"))' "$(sed -n "$1"'s/.* //p' "$dir/packets")"; }
is "from effect() back to cause(): as many instructions as the emulator executed" "$apart" "$(($(number 5) - $(number 9)))"
is "one instruction further back" 1 "$(($(number 9) - $(number 11)))"
took 1 "10^8 instructions are decoded"
ok $? "the first answer"
took 2 "the call stack at the end"
ok $? "the first call stack"
took 8 "reverse-continue to cause()"
ok $? "10^8 instructions back to a breakpoint in under a second"
took 10 "reverse-stepi there"
ok $? "one back from there"
took 16 "continue over 10^8 instructions"
ok $? "10^8 instructions forwards"
took 18 "reverse-continue to the beginning, with a breakpoint amid the hottest code"
ok $? "10^8 instructions back where the breakpoint is beside what is executed all the time"
is "and that is the beginning" T05replaylog:begin "$(sed -n '18s/^[0-9]* \([^;]*\);.*/\1/p' "$dir/packets")"

gdb=$(command -v gdb-multiarch || command -v gdb)
if [ -z "$gdb" ] || ! "$gdb" -nx -batch -ex 'set architecture riscv:rv64' 2>&1 | grep -q riscv; then
	ok 0 "gdb # SKIP there is no gdb for RISC-V (package gdb-multiarch)"
else
	# shellcheck disable=SC2016 # gdb's
	"$gdb" -nx -batch -ex 'set architecture riscv:rv64' \
		-ex "target remote | $HOST/perf-rvtrace gdb -i $dir/share/perf.data --symfs $symfs --start end" \
		-ex 'break effect' -ex 'break cause' -ex reverse-continue -ex 'set $from = $trace_insn' -ex reverse-continue \
		-ex 'p $from - $trace_insn' -ex backtrace -ex reverse-stepi -ex 'p $from - $trace_insn' >"$dir/gdb" 2>&1 </dev/null
	# a breakpoint by name is behind the prologue, if there is one
	check "gdb: goes there" grep -qx "\$1 = $apart" "$dir/gdb"
	check "gdb: who called" grep -qE '^#1 .* main \(\)' "$dir/gdb"
	check "gdb: and one back" grep -qx "\$2 = $((apart + 1))" "$dir/gdb"
	! grep -q 'Ignoring packet error' "$dir/gdb"
	ok_or_show $? "gdb: does not lose patience" "$dir/gdb"
fi
done_testing
