#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# E-Trace with filters of the hardware, all optional modes on: what was decoded is what the encoder
# was let see, and that is what was asked for.
. "$(dirname "$0")/../lib.sh"

all=sequential_jump,implicit_return,implicit_exception,branch_prediction,jump_target_cache,context

check "cross-compile the program" workload mixture -static
readelf=$TOP/tools/lab/cross/riscv64-linux-gnu-readelf
# A function of the program: address, size, and its offset in the file.
# shellcheck disable=SC2046
set -- $("$readelf" -sW "$guest_bin/mixture" | awk '$4 == "FUNC" && $8 == "fibonacci" { print $2, $3 }')
function=0x$1 function_size=$2
# shellcheck disable=SC2046
set -- $("$readelf" -lW "$guest_bin/mixture" | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
offset=$(printf 0x%x $((function - $2 + $1)))

# NAME EVENT FILTER PROGRAM...: FILTER is `-` or what follows in --filter.
recordings()
{
	cat <<-END
	user rvtrace/$all/u - mixture wild
	kernel rvtrace/$all/k - mixture wild forked
	both rvtrace/$all/ - mixture wild forked
	exceptions rvtrace/$all,causes=1/k - mixture wild
	interrupts rvtrace/$all,causes=2/k - mixture wild
	ecalls rvtrace/$all,ecause=0x100/k - mixture wild
	faults rvtrace/$all,ecause=0xb000/k - mixture wild
	range rvtrace/$all/u filter~$offset/$function_size@/mnt/share/mixture mixture wild
	without rvtrace/$all/u stop~$offset/$function_size@/mnt/share/mixture mixture wild
	start rvtrace/$all/u start~$offset@/mnt/share/mixture mixture wild
	END
}

script()
{
	printf 'insmod rvtrace.ko || exit 1\n'
	while read -r name event filter program; do
		[ "$filter" = - ] && filter='' || filter="--filter '${filter//\~/ }'"
		printf 'perf-rvtrace record -q -m ,8M -o %s.data -e %s %s -- %s > %s.out || { echo %s; exit 1; }\n' \
			"$name" "$event" "$filter" "$program" "$name" "$name"
	done < <(recordings)
	# One thread of a busy system: its parent is the shell, which says who it is before it
	# becomes it.
	printf '%s\n' "sh -c 'echo \$\$ > tid; while [ ! -e go ]; do sleep 0.1; done; exec mixture wild' > thread.out &" \
		'while [ ! -s tid ]; do sleep 0.1; done; mixture wild > other.out &' \
		"perf-rvtrace record -q -m ,8M -a -o thread.data -e rvtrace/$all,thread=\$(cat tid)/ -- \
			sh -c 'touch go; while [ -e /proc/\$(cat tid) ]; do sleep 0.1; done' || { echo thread; exit 1; }" \
		'wait; cat tid'
}

# everything: what was decoded of all, one behind the other, is the boot's whole truth.
everything()
{
	set -o pipefail
	(recordings; echo thread) | while read -r name _; do
		echo "# recording $name"
		raw_pc "$dir/share/$name.data" || return
	done | "$HOST/rvt-truth-diff" --min 300000 "$dir/truth"
}

# only NAME CONDITION [MIN]: all of a recording's instructions (cpu, tid, prv, pc) fulfil an awk
# condition.
only()
{
	raw_pc "$dir/share/$1.data" | awk -v lo="$(printf %x $((function)))" \
		-v hi="$(printf %x $((function + function_size)))" \
		-v tid="$(cat "$dir/share/tid" 2>/dev/null)" -v min="${3:-100}" '
		function below(a, b) { return length(a) < length(b) || length(a) == length(b) && a "" < b "" }
		function inside(pc) { return !below(pc, lo) && below(pc, hi) }
		/^#/ { next }
		{ n++; user += $3 == "U"; kernel += $3 == "S"; in_function += inside($4) }
		!('"$2"') { bad++; if (bad < 5) print }
		END { print n + 0, bad + 0, user + 0, kernel + 0, in_function + 0; exit !(n >= min && !bad) }'
}

for setting in 2.0:testing 0.029:stable; do
	dialect=${setting%:*}
	params=$TOP/tools/model/params/etrace-$dialect
	hook_options="--params $params"
	GUEST_TIMEOUT=900 guest "$dialect" "${setting#*:}" "etrace=$params,formats=etrace" \
		"$(script)"
	ok $? "$dialect: recordings with filters" || tail -n 5 "$dir/output"
	check "$dialect: what was decoded is what the encoder was let see" everything
	check "$dialect: user only" only user '$3 == "U"' 100000
	check "$dialect: kernel only" only kernel '$3 == "S"' 1000
	for kind in exceptions interrupts ecalls faults; do
		check "$dialect: $kind only: in the kernel" only $kind '$3 == "S"' 100
	done
	check "$dialect: one function only" only range '$3 == "U" && inside($4)' 1000
	check "$dialect: without that function" only without '$3 == "U" && !inside($4)' 10000
	check "$dialect: from that function on" only start '$3 == "U"' 10000
	check "$dialect: one thread of the system" only thread '$2 == tid' 100000
	check "$dialect: no rule of the control interface was broken" no_violations
done
done_testing
