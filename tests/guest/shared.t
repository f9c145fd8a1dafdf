#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Recordings share the kernel's code and symbols: a second one makes no files, is small, and is
# decoded with them as it was executed, user and kernel. KERNELS: on which kernels.
. "$(dirname "$0")/lib.sh"
rv=$HOST/perf-rvtrace

# with_cache COMMAND...: the guest's cache is ours.
with_cache()
{
	XDG_CACHE_HOME=$dir/share/cache "$@"
}

# names FILE: functions of the kernel and of a module in the flow, as its report has them.
names()
{
	with_cache "$rv" report -i "$1" --symfs "$symfs" --sort sym >"$dir/report" 2>"$dir/message" &&
		grep -q '\[k\] handle_exception$' "$dir/report" &&
		grep -q '\[k\] rvtrace_' "$dir/report" && ! grep -q '\[k\] \[unknown\]' "$dir/report"
}

for kernel in ${KERNELS:-testing}; do
	guest "$kernel" "$kernel" '' '
		unset PERF_RVTRACE_EMBED
		export XDG_CACHE_HOME=/mnt/share/cache
		sysctl -q -w net.core.bpf_jit_enable=1
		insmod rvtrace.ko || exit 1
		perf-rvtrace record -o first.data -- true || exit 2
		find cache -type f | sort > files.first
		perf-rvtrace record -o second.data -- ls / || exit 3
		find cache -type f | sort > files.second
		perf-rvtrace record --embed -o embedded.data -- true || exit 4
		HOME= XDG_CACHE_HOME= perf-rvtrace record -o nowhere.data -- true || exit 5
		rmmod rvtrace || exit 6'
	ok $? "$kernel: recordings are made, with a cache, --embed and without a cache"
	symfs=$dir/share:$("$LAB" path guest)
	check "$kernel: a second recording makes no files" \
		cmp "$dir/share/files.first" "$dir/share/files.second"
	check "$kernel: there are files of kernel, symbols and module" \
		awk 'END { exit NR < 3 }' "$dir/share/files.first"
	for file in first second; do
		check "$kernel: $file.data has no copies" \
			test "$(stat -c %s "$dir/share/$file.data")" -lt 2000000
		check "$kernel: $file.data is decoded as it was executed" \
			with_cache equals_truth "$dir/share/$file.data" --lossy --min 100000
		check "$kernel: and nothing of it is lost" \
			with_cache "$rv" stat --strict -i "$dir/share/$file.data" --symfs "$symfs"
	done
	for file in embedded nowhere; do
		check "$kernel: $file.data has copies" \
			test "$(stat -c %s "$dir/share/$file.data")" -gt 4000000
	done
	check "$kernel: functions of kernel and module have names" names "$dir/share/second.data"
	check "$kernel: archive" with_cache "$rv" archive -i "$dir/share/second.data" -o "$dir/archive"
	check "$kernel: what it makes needs no cache" "$rv" stat --strict -i "$dir/archive" --symfs "$symfs"
	"$rv" report -i "$dir/share/second.data" --symfs "$symfs" >"$dir/report" 2>"$dir/message"
	grep -q 'refers to .*cache/rvtrace/kernel/.*perf rvtrace archive' <(tr '\n' ' ' <"$dir/message")
	ok_or_show $? "$kernel: without the cache: what is missing, and what to do" "$dir/message"
	! "$rv" archive -i "$dir/share/second.data" -o "$dir/none" 2>"$dir/message" && [ ! -e "$dir/none" ]
	ok_or_show $? "$kernel: without the cache: no archive" "$dir/message"
done
done_testing
