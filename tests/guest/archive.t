#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# One file from the board is enough: what `archive --files` makes there is decoded here, exactly, with
# nothing else of that system: programs, a stripped library, the vdso, the kernel and its modules.
# The board's root is another than this machine's, and this machine has no cache of its kernel.
. "$(dirname "$0")/lib.sh"
rv=$HOST/perf-rvtrace

check "a program that loads" workload dlopen
check "a library" "$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=2 -o "$guest_bin/plugin.so" \
	"$TOP/tests/guest/workloads/plugin.c"
check "that is stripped" "$LAB" cross-cc -O2 -s -shared -fPIC -DSTEPS=2 -o "$guest_bin/stripped.so" \
	"$TOP/tests/guest/workloads/plugin.c"
check "and one that asks for the time" "$LAB" cross-cc -O2 -s -shared -fPIC -o "$guest_bin/clock.so" \
	-x c - <<'END'
#include <time.h>
void now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
}
END

guest board testing '' '
	unset PERF_RVTRACE_EMBED
	export XDG_CACHE_HOME=/tmp/cache
	mkdir -p "/opt/only here" && cp dlopen plugin.so stripped.so clock.so "/opt/only here/" || exit 1
	insmod rvtrace.ko || exit 2
	cd /tmp || exit 3
	perf-rvtrace record -o perf.data -- "/opt/only here/dlopen" "/opt/only here/plugin.so" plugin_function 100 \
		"/opt/only here/stripped.so" plugin_function 100 "/opt/only here/clock.so" now 100 || exit 4
	perf-rvtrace archive --files 2> warnings || exit 5
	ls "$XDG_CACHE_HOME/rvtrace/kernel" > cached || exit 6
	mv perf.archive.tar warnings cached /mnt/share/ || exit 7
	rmmod rvtrace || exit 8'
ok $? "recorded and archived"
is "nothing was missing" "" "$(cat "$dir/share/warnings")"
[ -s "$dir/share/cached" ]
ok $? "the recording alone had no copy of the kernel"
mkdir "$dir/board"
check "one file" tar -C "$dir/board" -xf "$dir/share/perf.archive.tar"

# alone COMMAND...: perf-rvtrace with these files only
alone()
{
	XDG_CACHE_HOME=$dir/none "$rv" "$1" -i "$dir/board/perf.data" --symfs "$dir/board/files" "${@:2}"
}

exact()
{
	set -o pipefail
	alone script --raw-pc | "$HOST/rvt-truth-diff" --lossy --min 100000 "$dir/truth"
}
check "decoded as it was executed" exact
check "and all of it" alone stat --strict
alone report -s dso,sym >"$dir/report" 2>"$dir/message"
ok_or_show $? "report" "$dir/message"
for line in 'plugin\.so .*plugin_function' 'stripped\.so .*plugin_function' 'clock\.so .*now' \
	'libc\.so\.6 ' '\[vdso\] .*clock_gettime' 'handle_exception' '\[rvtrace\].* rvtrace_'; do
	grep -q -- "$line" "$dir/report"
	ok_or_show $? "report has $line" "$dir/report"
done
done_testing
