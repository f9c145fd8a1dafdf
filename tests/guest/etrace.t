#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# E-Trace on a real kernel, in each mode alone and in all together: decoded flow of user and kernel
# equals the truth, instruction by instruction.
. "$(dirname "$0")/lib.sh"

all=sequential_jump,implicit_return,implicit_exception,branch_prediction,jump_target_cache

# Where the driver finds the discovery attributes: registers, properties.
discovery=registers

# equals_nameless FILE ARGS...: the same where nothing writes thread ids, but they are known from
# who was recorded.
equals_nameless()
{
	local file=$1

	shift
	raw_pc "$file" >"$dir/flow" || return 1
	[ "$(awk '!/^#/ { print $2 }' "$dir/flow" | sort -u | wc -l)" = 1 ] || { echo "not one thread"; return 1; }
	[ "$(awk '!/^#/ { print $2; exit }' "$dir/flow")" -gt 1 ] || { echo "no thread"; return 1; }
	awk '!/^#/ { $2 = "-" } { print }' "$dir/flow" | "$HOST/rvt-truth-diff" "$@" "$dir/truth"
}

# etrace DIALECT NAME OPTIONS: one recording, compared. The draft is tried on the other kernel.
etrace()
{
	local params=$TOP/tools/model/params/etrace-$1 kernel=testing equals=equals_truth

	[[ ",$3," != *,context=0,* ]] || equals=equals_nameless
	[ "$1" != 0.029 ] || kernel=stable
	hook_options="--params $params --discovery $discovery"
	guest "$1-$2" $kernel "etrace=$params,formats=etrace" "insmod rvtrace.ko || exit 1
		seq 1 300 | awk '{ print (\$1 * 7919) % 100003, \"word\" \$1 }' > input
		perf-rvtrace record -o perf.data -e 'rvtrace/$3/' -- sort input > sorted || exit 1
		sort -c sorted || exit 1
		cd /sys/bus/rvtrace/devices/encoder-1 || exit 1
		for a in discovery/*; do echo \"\${a##*/} = \$(cat \$a)\"; done > /mnt/share/attributes
		cat params > /mnt/share/params; cd /
		rmmod rvtrace"
	ok $? "$1, $2: a program is recorded"
	check "$1, $2: user and kernel flow equals the truth" \
		$equals "$dir/share/perf.data" --min 100000
	check "$1, $2: no rule of the control interface was broken" no_violations
}

# expect FILE LINE...: it has all of these lines.
expect()
{
	local file=$1 line status=0

	shift
	for line; do
		grep -qxF "$line" "$file" || { echo "no line \"$line\""; status=1; }
	done
	[ $status = 0 ] || cat "$file"
	return $status
}

# exactly FILE LINE...: and no others.
exactly()
{
	expect "$@" || return 1
	[ "$(wc -l < "$1")" = $(($# - 1)) ] || { cat "$1"; return 1; }
}

# recorded: the recording carries the same.
recorded()
{
	local section

	# What is behind it may be anything, newlines and letters too.
	section=$(grep -a -A 40 '^\[discovery 1\]' "$dir/share/perf.data" | sed -n '/^[a-z][a-z0-9_]* = /p; /^\[encoder/q')
	[ "$(sort <<< "$section" | tr -d '\0')" = "$(sort "$dir/share/attributes")" ] || { echo "$section"; return 1; }
}

if [ $# -eq 3 ]; then
	etrace "$@"
	done_testing
fi

# What chapter 7 of each text says for an encoder like that of tools/model/params: attributes of
# widths are less by one; what is not in that file has the text's default, or is the model's.
etrace 2.0 all $all,context
check "2.0: discovery registers in sysfs" exactly "$dir/share/attributes" \
	'version = 0' 'minor_revision = 0' 'arch = 0' 'bpred_size = 9' 'cache_size = 6' \
	'call_counter_size = 0' 'context_width = 31' 'time_width = 0' 'ecause_width = 5' \
	'f0s_width = 1' 'iaddress_lsb = 0' 'iaddress_width = 63' 'nocontext = 0' 'notime = 1' \
	'privilege_width = 1' 'return_stack_size = 5' 'sijump = 1' \
	'comparators = 3' 'filters = 3' 'ecause_choice = 6' 'filter_context = 1' 'filter_time = 1' \
	'filter_excint = 1' 'filter_privilege = 1' 'filter_tval = 1' 'filter_impdef = 1' \
	'ctype_width = 1' 'ilastsize_width = 0' 'itype_width = 3' 'iretire_width = 6' 'retires = 0' \
	'taken_branches = 0' 'impdef_width = 7'
check "2.0: as decoder parameters" expect "$dir/share/params" 'protocol = etrace' 'dialect = 2.0' \
	'bpred_size_p = 9' 'cache_size_p = 6' 'call_counter_size_p = 0' 'context_width_p = 32' \
	'time_width_p = 1' 'ecause_width_p = 6' 'f0s_width_p = 1' 'iaddress_lsb_p = 1' \
	'iaddress_width_p = 64' 'nocontext_p = 0' 'notime_p = 1' 'privilege_width_p = 2' \
	'return_stack_size_p = 5' 'sijump_p = 1' 'arch_p = 0'
check "2.0: in the recording" recorded

# A jump to itself: E-Trace does not tell how often it was executed, and that is said.
check "cross-compile the workload" workload spin
hook_options="--params $TOP/tools/model/params/etrace-2.0 --discovery $discovery"
guest loop testing "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace" '
	insmod rvtrace.ko || exit 1
	perf-rvtrace record -o perf.data -e rvtrace//u -- spin > address'
ok $? "a jump to itself is recorded"
address=$(cat "$dir/share/address")
executed=$(for hart in "$dir"/truth/truth.*; do
	"$HOST/rvt-truth" "$hart"; done | awk -v pc="$(printf %016x "0x$address")" '$1 == "insns" && $2 == pc { n += $4 } END { print n + 0 }')
"$HOST/perf-rvtrace" report -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" -s sym \
	>"$dir/report" 2>"$dir/report.err"
counted=$(awk '$NF == "spin" { print $2 }' "$dir/report")
[ "$executed" -gt 10000 ] && [ "$counted" -ge 3 ] && [ "$counted" -lt $((executed / 10)) ]
ok $? "a jump to itself: it counts once each time it is entered ($counted of $executed)"
check "report says so in front" sh -c "head -n 6 '$dir/report' |
	grep -A 1 '[0-9]* times a loop without a branch was entered, as at 0x$address:' |
	grep 'E-Trace does not tell how often it ran'"
"$HOST/perf-rvtrace" stat -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" --strict \
	>"$dir/stat" 2>&1
is "stat --strict: an error" 1 $?
check "stat says so" grep -q "a loop without a branch was entered, as at 0x$address" "$dir/stat"

discovery=properties
etrace 0.029 all $all,context
check "0.029: discovery properties in sysfs, and the draft's defaults" exactly "$dir/share/attributes" \
	'version = 0' 'minor_revision = 0' 'arch = 0' 'bpred_size = 9' 'cache_size = 6' \
	'call_counter_size = 0' 'context_width = 31' 'ecause_width = 5' 'f0s_width = 1' \
	'iaddress_lsb = 0' 'iaddress_width = 63' 'nocontext = 0' 'privilege_width = 2' \
	'return_stack_size = 5' 'sijump = 1' \
	'comparators = 0' 'filters = 0' 'ecause_choice = 5' 'filter_context = 1' 'filter_ecause = 1' \
	'filter_interrupt = 1' 'filter_privilege = 1' 'filter_tval = 1' 'filter_impdef = 0' \
	'ctype_width = 1' 'ilastsize_width = 0' 'itype_width = 4' 'iretire_width = 2' 'ntkn_width = 0' \
	'retires = 0' 'taken_branches = 0' 'impdef_width = 0'
check "0.029: in the recording" recorded
discovery=registers
# Each mode by itself takes minutes: make check-long
[ -n "${RVT_LONG:-}" ] || done_testing
etrace 2.0 base ''
etrace 2.0 full full_address
# Packets have a context of 0 then, which is no thread's.
etrace 2.0 no-context context=0
etrace 2.0 implicit-exception implicit_exception
etrace 2.0 sequential-jump sequential_jump
etrace 2.0 implicit-return implicit_return
etrace 2.0 branch-prediction branch_prediction
etrace 2.0 jump-target-cache jump_target_cache
etrace 0.029 base ''
etrace 2.0.5 all $all,context
done_testing
