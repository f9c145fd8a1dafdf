#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Data trace by way of the command: accesses are those that were made, whatever the encoder reports
# and however it compresses; the same for any number of threads; damage costs what is damaged.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

common='protocol = etrace
xlen = 64
iaddress_width_p = 64
type_bits = 1
data_width_p = 64
dtype_width_p = 4'

# make N SEED KEY...: $dir/dump and its parameters; what was made is in $dir/made.
make_trace()
{
	local n=$1 seed=$2

	shift 2
	printf '%s\n' "$common" "$@" >"$dir/params"
	build/host/rvt-accesses "$dir/params" "$dir/dump" "$n" "$seed" >"$dir/made"
}

# decode FILE OPTION...: its accesses without their times
decode()
{
	local file=$1

	shift
	"$rv" decode --params "$dir/params" --raw "$dir/dump.code@0x1000" --print data "$@" "$file" 2>"$dir/err" | sed 's/^- //'
}

equals() { decode "$dir/dump" >"$dir/got" && [ -s "$dir/made" ] && cmp "$dir/made" "$dir/got"; }

# same WHAT KEY...: in the order in which they were made
same()
{
	local what=$1

	shift
	make_trace 20000 1 "$@"
	check "$what" equals
}

same "addresses and values"
same "addresses only" 'options = data_no_value'
same "values only" 'options = data_no_address'
same "XOR only" 'options = data_no_address' 'data_compression = xor'
same "differences only" 'options = data_no_address' 'data_compression = difference'
same "operands in full" 'dialect = 2.0.5' 'data_operands = full'
same "packets of the extension" 'dialect = 2.0.5' 'options = multi_access'
same "32 bits" 'xlen = 32' 'iaddress_width_p = 32' 'data_width_p = 32'
# Loads that wait for their data come later than what does not wait.
make_trace 20000 1 'lrid_width_p = 3'
decode "$dir/dump" | sort >"$dir/got"
sort "$dir/made" | cmp - "$dir/got"
ok $? "split transactions"

# A dump of some megabytes, in slices.
make_trace 400000 2
for jobs in 1 2 7; do
	decode "$dir/dump" --jobs $jobs >"$dir/jobs.$jobs"
done
check "--jobs 1: what was made" cmp "$dir/made" "$dir/jobs.1"
check "--jobs 2: the same" cmp "$dir/jobs.1" "$dir/jobs.2"
check "--jobs 7: the same" cmp "$dir/jobs.1" "$dir/jobs.7"
"$rv" decode --params "$dir/params" --raw "$dir/dump.code@0x1000" --print none "$dir/dump" 2>"$dir/err"
ok $? "the flow is clean"
grep -q ': 3600000 instructions' "$dir/err"
ok $? "and whole"

# 200 bytes are altered: most accesses are told, others are not made up in their hundreds.
cp "$dir/dump" "$dir/damaged"
size=$(stat -c %s "$dir/damaged")
for ((i = 1; i <= 200; i++)); do
	printf '\xa5' | dd of="$dir/damaged" bs=1 seek=$((i * size / 201)) conv=notrunc status=none
done
decode "$dir/damaged" --jobs 1 >"$dir/got"
decode "$dir/damaged" --jobs 3 >"$dir/got.3"
check "damage: the same with threads" cmp "$dir/got" "$dir/got.3"
right=$(diff --speed-large-files "$dir/made" "$dir/got" | grep -c '^<')
wrong=$(diff --speed-large-files "$dir/made" "$dir/got" | grep -c '^>')
[ "$right" -lt 20000 ] && [ "$wrong" -lt 20000 ]
ok $? "damage: $right of 400000 are missing or altered, $wrong are others"
[ -s "$dir/err" ]
ok $? "damage: that is said"

done_testing
