#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Who may record what: the tables in Documentation/admin-guide/rvtrace.rst, line by line, are what the
# kernel does.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"

keep_truth=
lab_options='--append lsm=lockdown'
selftest_before='export RVTRACE_LOCKDOWN=1'
selftests testing testing '' safety who
guide=$TOP/Documentation/admin-guide/rvtrace.rst
tap=$dir/share

# rows FIRST: lines of the table whose first column is called FIRST
rows()
{
	awk -v first="$1" 'inside && /^=/ { if (++rules == 2) exit; next }
		$0 ~ "^" first { inside = 1; rules = 0; next } inside && rules == 1' "$guide"
}

# highest WHO WHAT: the highest level at which it is allowed, "any" or "none"
highest()
{
	awk -v row=", $1: $2 is allowed" 'index($0, row) && /^ok/ { match($0, /paranoid -?[0-9]+/)
			level = substr($0, RSTART + 9, RLENGTH - 9) + 0; n++; if (n == 1 || level > most) most = level }
		END { print !n ? "none" : n == 5 ? "any" : most }' "$tap/safety.tap"
}

n=0
while read -r line; do
	what=$(sed 's/  .*//' <<<"$line")
	read -r user perfmon root <<<"$(sed 's/.*[a-zA-Z]  \+\([0-9a-z]\+\) \+\([0-9a-z]\+\) \+\([a-z]\+\) *$/\1 \2 \3/' <<<"$line")"
	is "levels: $what: user" "$user" "$(highest user "$what")"
	is "levels: $what: with CAP_PERFMON" "$perfmon" "$(highest 'user with CAP_PERFMON' "$what")"
	is "levels: $what: root" "$root" "$(highest root "$what")"
	n=$((n + 1))
done < <(rows 'what  ')
is "levels: rows of the table" 6 $n

n=0
while read -r line; do
	who=$(sed 's/  .*//' <<<"$line") outcome=$(sed 's/.*  //' <<<"$line")
	grep -qE "^ok [0-9]+ - ?$who: $outcome |^ok [0-9]+ $who: $outcome " "$tap/who.tap"
	ok_or_show $? "$who: $outcome" "$tap/who.tap"
	n=$((n + 1))
done < <(rows 'who, what')
is "whom: rows of the table, and what was tried" "$(grep -c '^ok\|^not ok' "$tap/who.tap")" $n
rm -rf "$guest_bin"
done_testing
