#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf-rvtrace decode and dump of E-Trace, parameter key by parameter key. Packets are put together
# here, field by field from the tables of the specifications: "VALUE:WIDTH", lowest bit first. What
# they say was worked out by hand.
. "$(dirname "$0")/tap.sh"
rv=$TOP/build/host/perf-rvtrace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# ---- code, from 0x1000 to 0x3fff: nops, and at ADDRESS these bytes ----

for ((i = 0; i < 0xc00; i++)); do printf '\x13\0\0\0'; done >code
word() { printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24)))" |
	dd of=code bs=1 seek=$(($1 - 0x1000)) conv=notrunc status=none; }
half() { printf "$(printf '\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8)))" |
	dd of=code bs=1 seek=$(($1 - 0x1000)) conv=notrunc status=none; }
jr=0x00030067					# jalr x0, 0(t1)
word 0x1004 0xfeb50ee3; word 0x1008 $jr		# beq a0, a1, 0x1000
word 0x1010 0x0f0000ef; word 0x1018 $jr		# jal ra, 0x1100
word 0x1104 0x00008067				# ret
word 0x1200 0x00002337; word 0x1204 $jr		# lui t1, 2
word 0x1300 0x100000ef; word 0x1304 $jr		# jal ra, 0x1400
word 0x1400 0xd01ff0ef; word 0x1404 0x00008067	# jal ra, 0x1100; ret
word 0x1184 0x00028067				# jr t0
word 0x1480 0xd01ff2ef; word 0x1484 $jr		# jal t0, 0x1180
half 0x1500 0xa002				# cm.jt 0
half 0x1600 0xbe42				# cm.popret {ra}, 16
half 0x1700 0x2081; half 0x1702 1; word 0x1704 $jr; word 0x1740 $jr # RV32 c.jal 0x1740, RV64 c.addiw ra, 0
word 0x2008 $jr
word 0x3800 0x2000; word 0x3804 0		# a jump table

# ---- packets ----

src='' type='' stamp=''
# packet FIELD...: compressed by its sign, in its encapsulation, behind what is in `dump`
packet()
{
	local bits='' field value i sign bytes='' n rest
	local whole=0

	if [ -n "$src" ]; then
		whole=$((${src#*:} / 8))
		set -- "$((${src%:*} >> 8 * whole)):$((${src#*:} % 8))" ${type:+"$type"} "$@"
	else
		set -- ${type:+"$type"} "$@"
	fi
	for field; do
		value=$((${field%:*}))
		for ((i = 0; i < ${field#*:}; i++)); do bits+=$((value >> i & 1)); done
	done
	sign=${bits: -1}
	while ((${#bits} % 8)); do bits+=$sign; done
	rest=$(printf "$sign%.0s" 1 2 3 4 5 6 7 8 9)
	while ((${#bits} > 8)) && [ "${bits: -9}" = "$rest" ]; do bits=${bits:0:-8}; done
	n=$((${#bits} / 8))
	printf -v bytes '\\x%02x' $((n | ${stamp:+0x80} + 0))
	for ((i = 0; i < whole; i++)); do printf -v bytes '%s\\x%02x' "$bytes" $((${src%:*} >> 8 * i & 255)); done
	if [ -n "$stamp" ]; then
		for ((i = 0; i < ${stamp#*:}; i++)); do printf -v bytes '%s\\x%02x' "$bytes" $((${stamp%:*} >> 8 * i & 255)); done
	fi
	for ((i = 0; i < n; i++)); do
		value=0
		for ((field = 7; field >= 0; field--)); do value=$((value * 2 + ${bits:8 * i + field:1})); done
		printf -v bytes '%s\\x%02x' "$bytes" "$value"
	done
	printf "$bytes" >>dump
}

# Of 2.0 with its defaults: 32-bit addresses from bit 1, no context, no time, two bits of privilege.
begin() { : >dump; packet 3:2 0:2 1:1 3:2 $(($1 >> 1)):31; }
# A jump from address $1, the last one reported, to $2.
jump() { packet 2:2 $((($2 - $1) >> 1)):31 $(($2 < $1 ? 7 : 0)):3; }
ended() { packet 3:2 3:2 1:1 0:1 1:2 0:1 0:1; }

# ---- running ----

# parameters LINE...
parameters() { printf 'protocol = etrace\n' >params; printf '%s\n' "$@" >>params; }

# decode STATUS [option...]
decode()
{
	local want=$1 status

	shift
	"$rv" decode --params params --raw "code@${base:-0x1000}" "$@" dump >out 2>err
	status=$?
	[ $status = "$want" ] || { echo "# exit status $status, not $want"; return 1; }
}

# flow NAME PC...: these instructions, and nothing else to say
flow()
{
	local name=$1

	shift
	decode 0 && [ ! -s err ] && [ "$(tr '\n' ' ' <out)" = "$* " ]
	ok $? "$name" || true
	[ "$(tr '\n' ' ' <out)" = "$* " ] || sed 's/^/# /' out err params
}

# lost NAME TEXT: flow is lost, and the message has the text
lost()
{
	decode 1 && grep -q -- "$2" err
	ok $? "$1"
	grep -q -- "$2" err || sed 's/^/# /' err
}

# shown NAME TEXT...: a packet of the dump has these fields, for both commands
shown()
{
	local name=$1 text status=0

	shift
	decode 0 --print packet || status=1
	"$rv" dump --params params dump >out2 2>&1 || status=1
	for text; do
		grep -q -- " $text\( \|(\|$\)" out || status=1
		grep -q -- " $text\( \|(\|$\)" out2 || status=1
	done
	ok $status "$name"
	[ $status = 0 ] || sed 's/^/# /' out out2 err
}

# refused LINE TEXT...: exit status 2, nothing printed, and a message that says where and what is
# valid
refused()
{
	local line=$1 text status=0

	shift
	parameters "$line"
	decode 2 && [ ! -s out ] && grep -q '^perf-rvtrace decode: params:2: ' err || status=1
	for text; do grep -qF -- "$text" err || status=1; done
	ok $status "refused: $line"
	[ $status = 0 ] || sed 's/^/# /' err
}

# ---- defaults of the dialects ----

begin 0x1000; packet 1:2 1:5 1:1 0x800:31 0:3; ended
parameters
flow "no dialect: 2.0 and its defaults" 1000 1004 1008 2000
parameters 'dialect = 2.0'
flow "dialect = 2.0" 1000 1004 1008 2000
# context of one bit, privilege of three, branch at the end; one support bit less behind qual_status
: >dump; packet 3:2 0:2 1:1 3:3 0x800:31 0:1; packet 1:2 1:5 1:1 0x800:31 0:3; packet 3:2 3:2 1:1 0:1 1:2
parameters 'dialect = 0.029'
flow "dialect = 0.029 and its defaults" 1000 1004 1008 2000
shown "dialect = 0.029: its names" context=0x1 irfail=0 'qual_status=1'
begin 0x1000; packet 1:2 1:5 1:1 0x800:31 0:3; packet 3:2 3:2 1:1 0:2 1:2 0:8 0:2 0:2 0:3 0:4 0:3 0:3 0:7
parameters 'dialect = 2.0.5'
flow "dialect = 2.0.5 and its defaults" 1000 1004 1008 2000
shown "dialect = 2.0.5: its support packet" iret_ext=0 bpred_size=0

# ---- widths ----

: >dump; packet 3:2 0:2 1:1 3:2 $((0x3fff001008 >> 1)):39; packet 2:2 $((0xff8 >> 1)):39 0:3; packet 3:2 3:2 1:1 0:1 1:2 0:2
parameters 'iaddress_width_p = 40'
base=0x3fff001000
flow "iaddress_width_p = 40" 3fff001008 3fff002000
: >dump; packet 3:2 0:2 1:1 3:2 $((0x7f80001008 >> 1)):38; packet 2:2 $((0xff8 >> 1)):38 0:3; packet 3:2 3:2 1:1 0:1 1:2 0:2
parameters 'iaddress_width_p = 39'
base=0xffffffff80001000
flow "iaddress_width_p = 39, an address with its sign" ffffffff80001008 ffffffff80002000
base=
: >dump; packet 3:2 0:2 1:1 3:2 0x402:30; packet 2:2 0x3fe:30 0:3; ended
parameters 'iaddress_lsb_p = 2'
flow "iaddress_lsb_p = 2" 1008 2000
: >dump; packet 3:2 0:2 1:1 3:2 0x15:5 0x804:31; jump 0x1008 0x2000; ended
parameters 'nocontext_p = 0' 'context_width_p = 5'
flow "nocontext_p = 0, context_width_p = 5" 1008 2000
shown "context_width_p: the value" context=0x15
: >dump; packet 3:2 0:2 1:1 3:2 0x155:9 0x804:31; jump 0x1008 0x2000; ended
parameters 'notime_p = 0' 'time_width_p = 9'
flow "notime_p = 0, time_width_p = 9" 1008 2000
shown "time_width_p: the value" 'time=\(0x155\|341\)'
: >dump; packet 3:2 0:2 1:1 3:4 0x804:31; jump 0x1008 0x2000; ended
parameters 'privilege_width_p = 4'
flow "privilege_width_p = 4" 1008 2000
begin 0x1000; packet 3:2 1:2 1:1 3:2 65:7 0:1 1:1 0x1800:31 0x77:32; ended
parameters 'ecause_width_p = 7'
flow "ecause_width_p = 7" 1000 3000
shown "ecause_width_p: the value" ecause=65 tval=0x77

# ---- optional modes and their sizes ----

loop=$(for ((i = 0; i < 72; i++)); do printf '1000 1004 '; done)
counted() { begin 0x1000; packet 1:2 0:5 0:31; packet 0:2 0:"$1" 9:32 0:2; jump 0x1000 0x2000; ended; }
counted 0
parameters 'options = branch_prediction' 'bpred_size_p = 4'
# shellcheck disable=SC2086
flow "options = branch_prediction, bpred_size_p = 4" $loop 1008 2000
counted 2
parameters 'options = branch_prediction' 'bpred_size_p = 4' 'f0s_width_p = 2'
# shellcheck disable=SC2086
flow "f0s_width_p = 2" $loop 1008 2000
parameters 'options = branch_prediction' 'bpred_size_p = 4' 'f0s_width_p = 2' 'branch_count_limit = 40'
# shellcheck disable=SC2086
flow "branch_count_limit = 40" $loop 1008 2000
parameters 'options = branch_prediction' 'bpred_size_p = 4' 'f0s_width_p = 2' 'branch_count_limit = 39'
lost "branch_count_limit = 39" branch_count_limit

# A jump to 2004; then the jump at 2008 goes there again, by the entry of the cache.
cached() { begin 0x1008; jump 0x1008 0x2004; packet 0:2 "$1:3" 0:5 0:1; ended; }
for index in target:2 source:4 hash:1; do
	cached "${index#*:}"
	parameters 'options = jump_target_cache' 'cache_size_p = 3' "jump_cache_index = ${index%:*}"
	flow "cache_size_p = 3, jump_cache_index = ${index%:*}" 1008 2004 2008 2004
done

begin 0x1010; packet 2:2 0x7f8:31 0:3 0:3; ended
parameters 'options = implicit_return' 'return_stack_size_p = 2'
flow "options = implicit_return, return_stack_size_p = 2" 1010 1100 1104 1014 1018 2000
# The return went to 2000: irreport differs from updiscon, and there was one entry.
wrong() { begin 0x1010; packet 2:2 0x7f8:31 0:2 1:1 1:"$1"; ended; }
wrong 3
flow "return_stack_size_p = 2: a return that failed" 1010 1100 1104 2000
shown "return_stack_size_p = 2: irdepth of 3 bits" irdepth=1
wrong 4
parameters 'options = implicit_return' 'call_counter_size_p = 4'
flow "call_counter_size_p = 4: a return that failed" 1010 1100 1104 2000
shown "call_counter_size_p = 4: irdepth of 4 bits" irdepth=1
wrong 7
parameters 'options = implicit_return' 'return_stack_size_p = 2' 'call_counter_size_p = 4'
shown "return_stack_size_p and call_counter_size_p: irdepth of 7 bits" irdepth=1
begin 0x1300; packet 2:2 $((0xd00 >> 1)):31 0:6; ended
parameters 'options = implicit_return' 'return_stack_size_p = 2'
flow "two calls" 1300 1400 1100 1104 1404 1304 2000
begin 0x1300; packet 2:2 2:31 0:6; packet 2:2 $((0xcfc >> 1)):31 0:6; ended
parameters 'options = implicit_return' 'return_stack_size_p = 2' 'return_stack_depth = 1'
flow "return_stack_depth = 1: the outer return has no entry" 1300 1400 1100 1104 1404 1304 2000
both='options = implicit_return, jump_target_cache'
begin 0x1010; packet 0:2 2:3 0:5 0:4; ended
parameters "$both" 'return_stack_size_p = 2' 'cache_size_p = 3' 'jump_cache_returns = all'
flow "jump_cache_returns = all" 1010 1100 1104 1014 1018 1014
parameters "$both" 'return_stack_size_p = 2' 'cache_size_p = 3'
lost "jump_cache_returns: predicted ones are not in the cache by default" offset
begin 0x1010; packet 2:2 0x7f8:31 0:2 1:1 1:3; packet 0:2 0:3 0:5 0:4; ended
flow "jump_cache_returns: mispredicted ones are, by default" 1010 1100 1104 2000 2004 2008 2000
parameters "$both" 'return_stack_size_p = 2' 'cache_size_p = 3' 'jump_cache_returns = mispredicted'
flow "jump_cache_returns = mispredicted" 1010 1100 1104 2000 2004 2008 2000
parameters "$both" 'return_stack_size_p = 2' 'cache_size_p = 3' 'jump_cache_returns = none'
lost "jump_cache_returns = none" offset

# 0.029: context, then three bits of privilege. Called at 1010, the function at 1100 returns to
# 1014.
context() { packet 3:2 0:2 0:1 3:3 0x808:31 0:1; packet 2:2 0x78:31 7:3; packet 3:2 2:2 "$@"; packet 2:2 "$back" 0:3; }
back=$(((0x2000 - 0x1100) >> 1)):31
: >dump; context 1:1 3:3; packet 3:2 3:2 1:1 0:1 3:2
parameters 'dialect = 0.029' 'options = implicit_return' 'return_stack_size_p = 2'
flow "context_packet_returns: a context packet keeps the return stack by default" 1010 1100 1104 1014 1018 2000
parameters 'dialect = 0.029' 'options = implicit_return' 'return_stack_size_p = 2' 'context_packet_returns = keep'
flow "context_packet_returns = keep" 1010 1100 1104 1014 1018 2000
parameters 'dialect = 0.029' 'options = implicit_return' 'return_stack_size_p = 2' 'context_packet_returns = clear'
flow "context_packet_returns = clear" 1010 1100 1104 2000
parameters 'dialect = 0.029' 'context_width_p = 6' 'nocontext_p = 1'
: >dump; packet 3:2 2:2 5:6 3:3
shown "context_packet_context: there is context by default" 'context=0x5 privilege=3'
parameters 'dialect = 0.029' 'context_width_p = 6' 'nocontext_p = 1' 'context_packet_context = as_others'
: >dump; packet 3:2 2:2 3:3
shown "context_packet_context = as_others" 'subformat=2 privilege=3'

# The call at 1010 goes to 1100. There is an interrupt, and a breakpoint at 1020, where its handler
# begins.
: >dump; packet 3:2 0:2 1:1 3:2 0x808:31
packet 3:2 1:2 1:1 3:2 5:4 1:1 0:1 0x810:31; packet 3:2 1:2 1:1 3:2 3:4 0:1 1:1 0x1000:31 0x1020:32; ended
traps()
{
	parameters ${2:+"$2"}
	decode 0 --print edge && printf '%s\n' "${@:3}" | cmp -s - out
	ok $? "$1" || sed 's/^/# /' out err
}
traps "trap_address: it is the handler's by default" '' '1100 1020 interrupt' '1020 2000 exception'
traps "trap_address = handler" 'trap_address = handler' '1100 1020 interrupt' '1020 2000 exception'
traps "trap_address = undefined" 'trap_address = undefined' '1100 ffffffffffffffff interrupt' '0 2000 exception'
begin 0x1200; jump 0x1200 0x3000; ended
parameters 'options = sequential_jump' 'sijump_p = 1'
flow "options = sequential_jump, sijump_p = 1" 1200 1204 2000 2004 2008 3000
begin 0x1008; packet 2:2 0x1000:31 0:3; ended
parameters 'options = full_address'
flow "options = full_address" 1008 2000

# ---- support packets ----

: >dump; packet 3:2 3:2 1:1 9:5 0:2 2:2 0:2 5:3; packet 3:2 0:2 1:1 3:2 0x804:31; packet 2:2 0x1000:31 0:3
packet 3:2 3:2 1:1 9:5 1:2 2:2 0:2 5:3
parameters 'encoder_mode_bits = 5' 'ioptions = -, full_address' 'doptions_bits = 3'
flow "encoder_mode_bits = 5, ioptions = -, full_address, doptions_bits = 3" 1008 2000
shown "their values" encoder_mode=9 'ioptions=\(2\|0x2\)' 'doptions=\(5\|0x5\)'
: >dump; packet 3:2 3:2 1:1 0:2 0:2 0:8 0:3 0:2 4:3 0:4 0:3 0:3 0:7; packet 3:2 0:2 1:1 3:2 0x804:31
jump 0x1008 0x2000; packet 3:2 3:2 1:1 0:2 1:2 0:8 0:3 0:2 4:3 0:4 0:3 0:3 0:7
parameters 'dialect = 2.0.5' 'support_time_bits = 3'
shown "support_time_bits = 3" return_stack_size=4

# ---- traps without address ----

trap() { begin 0x1000; packet 3:2 1:2 1:1 3:2 "$1":4 "$2":1 1:1 ${3:+"$3"}; ended; }
trap 5 0 0:32
parameters 'options = implicit_exception' 'trap_vector = 0x3000'
flow "trap_vector" 1000 3000
parameters 'options = implicit_exception' 'trap_vector = 0x1100' 'trap_vector.exception.5 = 0x3004'
flow "trap_vector.exception.5" 1000 3004
trap 7 1
parameters 'options = implicit_exception' 'trap_vector.exception.7 = 0x1100' 'trap_vector.interrupt.7 = 0x3008'
flow "trap_vector.interrupt.7" 1000 3008
parameters 'options = implicit_exception'
lost "no trap_vector" offset

# ---- framing ----

src=0x2a5:10
begin 0x1008; jump 0x1008 0x2000; ended
parameters 'srcid_bits = 10'
decode 0 --src 0x2a5 || decode 0 --src 677
[ "$(awk '{ printf "%s ", $NF }' out)" = "1008 2000 " ]
ok $? "srcid_bits = 10"
src='' type=2:2
begin 0x1008; jump 0x1008 0x2000; ended
parameters 'type_bits = 2'
flow "type_bits = 2: instruction trace is 2" 1008 2000
type=0:1
begin 0x1008; jump 0x1008 0x2000; ended
parameters 'type_bits = 1'
flow "type_bits = 1: instruction trace is 0" 1008 2000
type=5:3
begin 0x1008; jump 0x1008 0x2000; ended
parameters 'type_bits = 3' 'type_instruction = 5'
flow "type_bits = 3, type_instruction = 5" 1008 2000
type='' stamp=0x123456:3
begin 0x1008; stamp=''; jump 0x1008 0x2000; ended
parameters 'timestamp_bytes = 3'
flow "timestamp_bytes = 3" 1008 2000
"$rv" dump --params params dump 2>err2 | grep -qi '123456\|1193046'
ok $? "timestamp_bytes = 3: the value"

# The header's flow bits mean nothing to a decoder; the dump has them.
begin 0x1008; cp dump plain; jump 0x1008 0x2000; ended
parameters
printf "\\x$(printf %02x $((0x40 | $(od -An -tu1 -N1 plain))))" | dd of=dump bs=1 conv=notrunc status=none
flow "flow bits of the header" 1008 2000
"$rv" dump --params params dump 2>err2 | grep -q 'flow=2'
ok $? "flow bits of the header: shown"

# ---- the version of the architecture ----

begin 0x1008; jump 0x1008 0x2000; ended
parameters 'arch_p = 0'
flow "arch_p = 0" 1008 2000
parameters 'arch_p = 1'
decode 0
is "arch_p = 1: decoded" "1008 2000 " "$(tr '\n' ' ' <out)"
grep -q "version 1 of E-Trace's architecture (arch_p); up to 0 is known" err
ok_or_show $? "arch_p = 1: with a warning" err

# ---- the program ----

begin 0x1700; jump 0x1700 0x2000; ended
parameters
flow "xlen: 32 with 32-bit addresses" 1700 1740 2000
parameters 'xlen = 64'
flow "xlen = 64" 1700 1702 1704 2000
begin 0x1600; jump 0x1600 0x2000; ended
parameters 'xlen = 64' 'isa = zcmp'
flow "isa = zcmp" 1600 2000
# t0 is x5: a call and a return, or two jumps.
begin 0x1480; packet 2:2 $((0xb80 >> 1)):31 0:6; ended
parameters 'options = implicit_return' 'return_stack_size_p = 2'
flow "x5 is a link register" 1480 1180 1184 1484 2000
parameters 'options = implicit_return' 'return_stack_size_p = 2' 'isa = x1_link'
flow "isa = x1_link" 1480 1180 1184 2000
begin 0x1500; jump 0x1500 0x3000; ended
parameters 'xlen = 64' 'isa = zcmt' 'jvt = 0x3800'
flow "isa = zcmt, jvt" 1500 2000 2004 2008 3000

# ---- what is refused, and what is said then ----

refused 'protocol = xtrace' ntrace etrace
refused 'dialect = 1.0' "'1.0'" 0.029 2.0, 2.0.5
refused 'iaddres_width_p = 40' iaddress_width_p iaddress_lsb_p context_width_p nocontext_p time_width_p notime_p \
	privilege_width_p ecause_width_p f0s_width_p bpred_size_p cache_size_p return_stack_size_p \
	call_counter_size_p sijump_p arch_p encoder_mode_bits ioptions doptions_bits options trap_vector \
	trap_vector.exception.N trap_vector.interrupt.N srcid_bits timestamp_bytes type_bits type_instruction \
	branch_count_limit jump_cache_index jump_cache_returns context_packet_context context_packet_returns \
	trap_address return_stack_depth support_time_bits xlen isa jvt data_width_p daddress_width_p \
	lrid_width_p dtype_width_p type_data data_packets data_compression data_operands doptions
refused 'src_bits = 3' srcid_bits
for key in iaddress_width_p:65:8..64 iaddress_lsb_p:3:0..2 context_width_p:65:0..64 nocontext_p:2:0..1 \
	time_width_p:65:0..64 notime_p:2:0..1 privilege_width_p:9:1..8 ecause_width_p:65:1..64 \
	f0s_width_p:9:0..8 bpred_size_p:21:0..20 cache_size_p:21:0..20 return_stack_size_p:17:0..16 \
	call_counter_size_p:17:0..16 sijump_p:2:0..1 arch_p:256:0..255 encoder_mode_bits:33:0..32 doptions_bits:65:0..64 \
	srcid_bits:17:0..16 timestamp_bytes:9:0..8 type_bits:9:0..8 type_instruction:256:0..255 \
	daddress_width_p:65:0..64 lrid_width_p:9:0..8 dtype_width_p:5:0..4 type_data:256:0..255 \
	support_time_bits:4:2..3 return_stack_depth:65537:0..65536 branch_count_limit:-1:0..4294967295; do
	IFS=: read -r name value range <<<"$key"
	refused "$name = $value" "'$value' for '$name'" "$range"
done
modes='implicit_return sequential_jump implicit_exception branch_prediction jump_target_cache full_address'
# shellcheck disable=SC2086
refused 'options = everything' $modes
# shellcheck disable=SC2086
refused 'ioptions = full_address, full' $modes
refused 'jump_cache_index = random' target source hash
refused 'jump_cache_returns = some' none mispredicted all
refused 'context_packet_context = never' always as_others
refused 'context_packet_returns = drop' keep clear
refused 'trap_address = epc' handler undefined
for width in 1 5 65; do
	refused "data_width_p = $width" "'$width' for 'data_width_p'" '0, 8, 16, 32, 64'
done
refused 'data_packets = none' type all
refused 'data_compression = zip' both xor difference
refused 'data_operands = none' tables full
refused 'doptions = data_no_values' data_no_address data_no_value multi_access
refused 'xlen = 48' 32 64
refused 'isa = zcmx' zcmp zcmt x1_link
refused 'trap_vector = here' 0x
refused 'trap_vector.exception.64 = 0x1000' "'64'" 0..63
refused 'jvt = there' 0x
refused 'iaddress_width_p' "no '='"

done_testing
