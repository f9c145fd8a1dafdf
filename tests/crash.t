#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf rvtrace crash on dumps made by hand: the machine's memory has page tables, code, what the
# driver says of two harts, and their trace. Those of real kernels are in guest/flight.t.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
command -v python3 >/dev/null || skip_all "there is no python3"
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The third run of 8.4.2 of the N-Trace specification, at ffffffff80000100: c.nop; beq zero, zero, +e0;
# nop; beq zero, zero, +1d6; c.nop; nop; c.ebreak
printf '\1\0\143\17\0\16\23\0\0\0\143\13\0\36\1\0\23\0\0\0\2\220' >"$dir/code"
printf 'protocol = ntrace\ndialect = 1.0\nmode = htm\n' >"$dir/params"
printf '%s\n' 'ProgTraceSync SYNC=3 F-ADDR=0x7fffffffc0000080' \
	'ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=10 HIST=0b1_00' |
	build/host/rvt-asm "$dir/params" >"$dir/trace"
# Two harts in one buffer: SRC 1 executes the first instruction only.
cat "$dir/params" - >"$dir/params-shared" <<<"src_bits = 1"
printf '%s\n' 'ProgTraceSync SRC=0 SYNC=3 F-ADDR=0x7fffffffc0000080' \
	'ProgTraceSync SRC=1 SYNC=3 F-ADDR=0x7fffffffc0000080' \
	'ProgTraceCorrelation SRC=1 EVCODE=0 CDF=0 I-CNT=1' \
	'ProgTraceCorrelation SRC=0 EVCODE=0 CDF=1 I-CNT=10 HIST=0b1_00' |
	build/host/rvt-asm "$dir/params-shared" >"$dir/trace-shared"
flow="ffffffff80000100 ffffffff80000102 ffffffff80000106 ffffffff8000010a ffffffff8000010e ffffffff80000110"

# Structs of include/uapi/linux/rvtrace.h by hand. dump.py FILE [NAME=VALUE...]: other values.
cat >"$dir/dump.py" <<'EOF2'
import os, struct, sys
where, out = os.path.dirname(sys.argv[0]), sys.argv[1]
v = dict(magic=b"rvtrace-flight\n\0".hex(), version=1, header_bytes=4096, hart_bytes=4096, nr_harts=3,
         own=0x80002000, satp=8 << 60 | 0x80001, panic=7, flags0=1, flags1=5, flags2=0, offset0=-1,
         bytes0=4096, physical0=0x80006000, machine=243, shared=0,
         params=open(where + "/params").read().encode().hex())
for word in sys.argv[2:]:
    key, value = word.split("=", 1)
    v[key] = value if key in ("magic", "params") else int(value, 0)
trace = open(where + ("/trace-shared" if v["shared"] else "/trace"), "rb").read()
base, memory = 0x80000000, bytearray(0x8000)
memory[0x100:0x100 + 22] = open(where + "/code", "rb").read()
# Sv39: one gigapage, which may be executed, at ffffffff80000000
struct.pack_into("<Q", memory, 0x1000 + 8 * 510, (base >> 12) << 10 | 0xcb)
struct.pack_into("<16s4I6Q2I64s", memory, 0x2000, bytes.fromhex(v["magic"]), v["version"], v["header_bytes"],
                 v["hart_bytes"], v["nr_harts"], v["own"], 0xff60000000000000, base, 10000000, v["satp"],
                 v["panic"], 1, 0, b"6.12-test")
params = bytes.fromhex(v["params"]) + b"\0"
offset0 = len(trace) if v["offset0"] < 0 else v["offset0"]
struct.pack_into("<2I4Q2I", memory, 0x3000, 0, v["flags0"], 0, v["physical0"], v["bytes0"], offset0, 0, 0)
# A ring that begins amid a message, and is found by its virtual address only
ring = (trace[3:] + trace)[:64].rjust(64, b"\xff")
turn = 21
ring = ring[-turn:] + ring[:-turn]
struct.pack_into("<2I4Q2I", memory, 0x4000, 1, v["flags1"], 0xffffffff80007000, 0, 64, turn, 0, 0)
if v["shared"]:
    struct.pack_into("<2I4Q2I", memory, 0x4000, 1, 1, 0, v["physical0"], v["bytes0"], offset0, 1, 0)
struct.pack_into("<2I4Q2I", memory, 0x5000, 2, v["flags2"], 0, 0, 0, 0, 0, 0)
for hart in range(3):
    memory[0x3030 + hart * 0x1000:0x3030 + hart * 0x1000 + len(params)] = params
memory[0x6000:0x6000 + len(trace)] = trace
memory[0x7000:0x7040] = ring
info = b"OSRELEASE=6.12-test\nBUILD-ID=0123abcd\n"
note = struct.pack("<3I12s", 11, len(info), 0, b"VMCOREINFO") + info + b"\0" * (-len(info) % 4)
head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, v["machine"], 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
head += struct.pack("<IIQQQQQQ", 4, 0, 0x400, 0, 0, len(note), len(note), 4)
head += struct.pack("<IIQQQQQQ", 1, 7, 0x1000, 0, base, len(memory), len(memory), 4096)
open(out, "wb").write(head.ljust(0x400, b"\0") + note.ljust(0xc00, b"\0") + bytes(memory))
EOF2
make_dump()
{
	python3 "$dir/dump.py" "$dir/core" "$@" || exit 1
}

# addresses CPU: what is decoded of it
addresses()
{
	"$rv" crash --raw-pc -C "$1" "$dir/core" | awk '!/^#/ { print $4 }' | xargs
}

make_dump
is "a buffer that is not full" "$flow" "$(addresses 0)"
is "a ring at a virtual address" "$flow" "$(addresses 1)"
make_dump shared=1 params="$(od -A n -v -t x1 "$dir/params-shared" | tr -d ' \n')"
is "a shared buffer: the first hart" "$flow" "$(addresses 0)"
is "a shared buffer: the second hart" "ffffffff80000100" "$(addresses 1)"
make_dump
"$rv" crash "$dir/core" --kallsyms /dev/stdin >"$dir/out" 2>"$dir/err" <<-END
	ffffffff80000000 T _stext
	ffffffff80000100 t fir$(printf '\033')st
	ffffffff8000010a t second	[driver]
END
is "exit status: nothing is lost" 0 $?
is "nothing is said" "" "$(cat "$dir/err")"
is "kernel and build id" "# kernel 6.12-test, build id 0123abcd; user code is not shown" "$(head -n 1 "$dir/out")"
is "the hart that panicked" \
	"# CPU 1, which panicked: the last 6 of 6 instructions in 64 bytes of trace" "$(grep '^# CPU 1' "$dir/out")"
is "symbols" '[000] ffffffff80000106 fir\033st+0x6 ([kernel.kallsyms])
[000] ffffffff8000010a second+0x0 ([driver])' "$(grep '^\[000\]' "$dir/out" | grep -A 1 106)"
is "--last" "2 ffffffff8000010e" "$("$rv" crash --last 2 -C 0 --raw-pc "$dir/core" | awk '!/^#/ { n++; if (n == 1) pc = $4 } END { print n, pc }')"

# refuses NAME STATUS TEXT [ARGUMENT...]: of $dir/core
refuses()
{
	local name=$1 status=$2 text=$3 ret
	shift 3

	"$rv" crash "$@" "$dir/core" >"$dir/out" 2>"$dir/err"
	ret=$?
	[ $ret -eq "$status" ] && grep -qF -- "$text" "$dir/err"
	ok_or_show $? "$name" <(echo "status $ret"; cat "$dir/err")
}

refuses "a hart that was not in flight mode" 2 "CPU 2: it was not in flight mode" -C 2
refuses "a list of cpus" 2 "no list of cpus" -C x
make_dump flags0=3
refuses "a sink that was still writing" 1 "CPU 0: its sink was still writing"
make_dump flags0=0x23
refuses "a sink's own memory that was not read out" 1 "CPU 0: its trace was not read out of its sink's memory"
make_dump flags0=0x21
is "a copy of a sink's own memory" "$flow" "$(addresses 0)"
make_dump flags0=0x41
is "an encoder that was not stopped: what there is" "$flow" "$(addresses 0)"
"$rv" crash -C 0 "$dir/core" >"$dir/out" 2>&1
is "an encoder that was not stopped: status 1" 1 $?
check "an encoder that was not stopped: it says what is missing" \
	grep -q "^# CPU 0.*what it executed last is missing" "$dir/out"
make_dump offset0=5000
refuses "an end behind the buffer" 1 "CPU 0: what the driver says of its trace is damaged"
make_dump physical0=0x90000000
refuses "a buffer that is not in the dump" 1 "CPU 0: its trace is not in the dump"
make_dump params=6b3d76
refuses "parameters that mean nothing" 2 "no hart has trace that can be decoded"
make_dump own=0x80003000
refuses "a copy of the header" 2 "the driver was not in flight mode"
make_dump machine=62
refuses "another machine's dump" 2 "no ELF core file of a 64-bit RISC-V machine"
make_dump satp=0
refuses "no page tables" 1 "CPU 1: its trace is not in the dump"
is "no page tables: no code, which is a loss" "# CPU 0: the last 0 of 0 instructions in $(stat -c %s "$dir/trace") bytes of trace; flow was lost 1 times" \
	"$(grep '^# CPU 0' "$dir/out" | sed 's/, first.*//')"
make_dump panic=0
refuses "no panic" 0 "the kernel did not tell the driver that it panicked" -C 0
printf 'KDUMP   ' >"$dir/core"
refuses "a dump that makedumpfile compressed" 2 "makedumpfile"

# Whatever the bytes are, the command ends by itself.
survives()
{
	python3 - "$dir" "$rv" <<-'END'
	import random, subprocess, sys
	where, rv = sys.argv[1:]
	whole = open(where + "/whole", "rb").read()
	random.seed(20261126)
	for n in range(300):
	    core = bytearray(whole)
	    if n % 3 == 0:
	        del core[random.randrange(len(core)):]
	    else:
	        for _ in range(1 + n % 7):
	            # the heads, the note, page tables, what the driver says, and trace
	            page = random.choice([(0, 0x80), (0x400, 0x60), (0x1000 + 0x1ff0, 16), (0x3000, 160),
	                                  (0x4000, 160), (0x5000, 160), (0x7000, 32), (0x8000, 64)])
	            core[page[0] + random.randrange(page[1])] = random.randrange(256)
	    open(where + "/damaged", "wb").write(core)
	    done = subprocess.run([rv, "crash", where + "/damaged"], stdout=subprocess.DEVNULL,
	                          stderr=subprocess.DEVNULL, timeout=60)
	    if done.returncode not in (0, 1, 2):
	        sys.exit(f"input {n}: status {done.returncode}")
	END
}
make_dump
mv "$dir/core" "$dir/whole"
check "300 damaged dumps" survives
done_testing
