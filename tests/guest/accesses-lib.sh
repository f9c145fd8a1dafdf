# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the tests of data trace: what a program in the guest accesses, compared with what the emulator
# did. A test sources it after lib.sh.

# What an encoder says of "KIND BYTES ADDRESS VALUE [OPERATION OPERAND]": a conditional store that
# stored nothing only where it sends no values, the number of a CSR always.
all='$5 != "sc-failure"'
no_value='{ $4 = "-"; if (NF > 4) $6 = "-"; print }'
no_address='$5 == "sc-failure" { next } $1 != "csr" { $3 = "-" } { print }'

# same_accesses FILE AWK [OPTION...]: of each cpu, what is decoded is what the emulator did, as AWK
# makes it of the emulator's lines. $accesses_order: a command for both, where their order differs.
accesses_order=cat
same_accesses()
{
	local file=$1 as=$2 cpu total=0 n

	shift 2
	for cpu in 0 1; do
		[ -e "$dir/truth/accesses.$cpu" ] || continue
		"$HOST/perf-rvtrace" script -i "$file" --symfs "$dir/share:$("$LAB" path guest)" --by-cpu \
			-C "$cpu" --data -F cpu "$@" 2>"$dir/script.err" | sed -n 's/^.*data: //p' |
			$accesses_order >"$dir/decoded.$cpu"
		awk "$as" "$dir/truth/accesses.$cpu" | $accesses_order | cmp - "$dir/decoded.$cpu" ||
			{ tail -3 "$dir/script.err"; return 1; }
		! grep "makes no data trace" "$dir/script.err" || return 1
		n=$(wc -l <"$dir/decoded.$cpu")
		total=$((total + n))
	done
	echo "# $total accesses: $(cat "$dir"/decoded.* | cut -d ' ' -f 1,5 | sort | uniq -c | tr -s '\n ' ' ')"
	[ "$total" -ge "$accesses_min" ] || { echo "only $total accesses"; return 1; }
}

# The emulator's lines have each that the program saw, with what it found in its registers.
truth_as_seen()
{
	local missing

	missing=$(comm -23 <(sort "$dir/share/seen") <(sort "$dir"/truth/accesses.*))
	[ -s "$dir/share/seen" ] && [ -z "$missing" ] || { echo "$missing" | head; return 1; }
	echo "# $(wc -l <"$dir/share/seen") seen by the program"
}

# data_trace NAME AWK PROGRAM KEY...: one recording by an encoder of E-Trace $etrace_dialect with
# these parameters besides.
etrace_dialect=2.0
data_trace()
{
	local name=$1 as=$2 program=$3 params=$TOP/build/guest/$test_name-$1.params

	shift 3
	{
		cat "$TOP/tools/model/params/etrace-$etrace_dialect"
		printf '%s\n' 'type_bits = 1' 'data_width_p = 64' 'dtype_width_p = 4' "$@"
	} >"$params"
	hook_options="--params $params"
	guest "$name" testing "etrace=$params,formats=etrace,stall=on" "insmod rvtrace.ko || exit 1
		seq 1 300 | awk '{ print (\$1 * 7919) % 100003, \"word\" \$1 }' > input
		perf-rvtrace record -m ,32M -o perf.data -e 'rvtrace/context,stall/u' -- $program > output || exit 1
		rmmod rvtrace"
	ok $? "$name: a program is recorded"
	check "$name: the encoder takes its settings" no_violations
	check "$name: its flow equals the truth" equals_truth "$dir/share/perf.data" --min 50000
	check "$name: so does each load and store" same_accesses "$dir/share/perf.data" "$as" --jobs 1
	check "$name: and with several threads" same_accesses "$dir/share/perf.data" "$as" --jobs 3
}
