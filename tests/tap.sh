# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# TAP for the tests that are shell scripts (*.t): each sources this file, or a library that does,
# and ends with done_testing.

set -u
# shellcheck disable=SC2034 # for the tests
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
test_name=$(basename "$0" .t)
test_count=0
test_failed=0

# ok STATUS NAME: one TAP line.
ok()
{
	test_count=$((test_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $test_count - $2"
	else
		echo "not ok $test_count - $2"
		test_failed=1
	fi
}

# ok_or_show STATUS NAME FILE: with what is in FILE when it is not ok.
ok_or_show()
{
	[ "$1" -eq 0 ] || diag <"$3"
	ok "$1" "$2"
}

# is NAME EXPECTED ACTUAL
is()
{
	[ "$2" = "$3" ]
	local status=$?
	[ $status -eq 0 ] || diag <<<"expected '$2', got '$3'"
	ok $status "$1"
	return $status
}

# check NAME COMMAND...: the end of the command's output is shown when it fails.
check()
{
	local name=$1 log status

	shift
	log=$(mktemp)
	"$@" >"$log" 2>&1
	status=$?
	[ $status -eq 0 ] || tail -n 60 "$log" | diag
	rm -f "$log"
	ok $status "$name"
	return $status
}

# diag: standard input as comments, on standard error, where prove lets them through.
diag()
{
	sed "s/^/# $test_name: /" >&2
}

# skip NAME REASON
skip()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $2"
}

# skip_all REASON: instead of any test.
skip_all()
{
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing()
{
	echo "1..$test_count"
	exit $test_failed
}

# tap_passed FILE: it is the TAP of another program, complete and without a failure; what is not ok
# is printed.
tap_passed()
{
	local planned

	planned=1..$(grep -cE "^(not )?ok " "$1")
	grep -v '^ok ' "$1"
	[ "$planned" != 1..0 ] && ! grep -q '^not ok' "$1" && grep -qxF "$planned" "$1"
}
