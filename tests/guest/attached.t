#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# -p on a program whose code in no file is older than the recording: it is copied, and decoded.
. "$(dirname "$0")/lib.sh"

check "cross-compile the workload" workload attached
grep -qa exec_mm_release "$TOP/build/riscv64/perf-rvtrace" ||
	{ skip "attach" "built without clang: code in no file is not copied"; done_testing; exit; }
guest main testing '' '
	insmod rvtrace.ko || exit 1
	attached ready & victim=$!
	until [ -e ready ]; do sleep 0.1; done
	# Not in the shared folder: looking at files there while they are written can damage them.
	perf-rvtrace record -e rvtrace//u -o /tmp/attached.data -p $victim & recorder=$!
	until [ -s /tmp/attached.data ]; do sleep 0.1; done
	sleep 1; kill -INT $recorder; wait $recorder || exit 2
	perf-rvtrace record -e rvtrace//u --copy-code=never -o /tmp/never.data -p $victim & recorder=$!
	until [ -s /tmp/never.data ]; do sleep 0.1; done
	sleep 1; kill -INT $recorder; wait $recorder || exit 3
	cp /tmp/attached.data /tmp/never.data . || exit 4
	kill $victim'
ok $? "a running program is recorded"
raw_pc "$dir/share/attached.data" >"$dir/pc" 2>"$dir/message"
! grep -m 3 '^# lost' "$dir/pc"
ok_or_show $? "all of it is decoded" "$dir/message"
check "and is what was executed" sh -c \
	"'$HOST/rvt-truth-diff' --lossy --min 10000 '$dir/truth' <'$dir/pc'"
raw_pc "$dir/share/never.data" >"$dir/pc" 2>"$dir/message"
grep -q '^# lost' "$dir/pc"
ok_or_show $? "without copies it is not" "$dir/message"
done_testing
