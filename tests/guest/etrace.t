#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# E-Trace on a real kernel, in each mode alone and in all together: decoded flow of user and kernel equals the
# truth, instruction by instruction.
. "$(dirname "$0")/lib.sh"

all=sequential_jump,implicit_return,implicit_exception,branch_prediction,jump_target_cache

# etrace DIALECT NAME OPTIONS: one recording, compared.
etrace()
{
	local params=$TOP/tools/model/params/etrace-$1

	hook_options="--params $params"
	guest "$1-$2" testing "etrace=$params,formats=etrace" "insmod rvtrace.ko || exit 1
		seq 1 300 | awk '{ print (\$1 * 7919) % 100003, \"word\" \$1 }' > input
		perf-rvtrace record -o perf.data -e 'rvtrace/$3/' -- sort input > sorted || exit 1
		sort -c sorted && rmmod rvtrace"
	ok $? "$1, $2: a program is recorded"
	check "$1, $2: user and kernel flow equals the truth" \
		equals_truth "$dir/share/perf.data" --min 100000
	check "$1, $2: no rule of the control interface was broken" no_violations
}

if [ $# -eq 3 ]; then
	etrace "$@"
	done_testing
fi
etrace 2.0 all $all,context
etrace 0.029 all $all,context
# Each mode by itself takes minutes: make check-long
[ -n "${RVT_LONG:-}" ] || done_testing
etrace 2.0 base ''
etrace 2.0 full full_address
etrace 2.0 implicit-exception implicit_exception
etrace 2.0 sequential-jump sequential_jump
etrace 2.0 implicit-return implicit_return
etrace 2.0 branch-prediction branch_prediction
etrace 2.0 jump-target-cache jump_target_cache
etrace 0.029 base ''
etrace 2.0.5 all $all,context
done_testing
