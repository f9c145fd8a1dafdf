#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The series for the kernel's tree, as far as that can be tested without the tree.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
series=(upstream/perf/*.patch)

# new_file PATH: a file that the series adds, as it is behind the last patch.
new_file()
{
	local patch found

	found=$(grep -lF "+++ b/$1" "${series[@]}") || return
	for patch in $found; do
		awk -v path="$1" '/^diff --git / { ours = $3 == "a/" path } ours' "$patch"
	done | patch -s -d "$dir" -p1
}

metadata_builds()
{
	local header

	mkdir -p "$dir/stubs/linux"
	for header in linux/{kernel,string,types,zalloc} auxtrace debug event session; do
		ln -s "$TOP/tests/upstream/perf.h" "$dir/stubs/$header.h"
	done
	new_file tools/perf/util/rvtrace-base.c && new_file tools/perf/util/rvtrace.h || return
	mv "$dir"/tools/perf/util/rvtrace* "$dir/"
	cc -D_GNU_SOURCE -std=gnu11 -g -Wall -Wextra -Wno-sign-compare -Werror -fsanitize=address,undefined \
		-I"$dir" -I"$dir/stubs" -Iinclude -Iuserspace/lib -Iuserspace -o "$dir/metadata" tests/upstream/metadata.c \
		"$dir/rvtrace-base.c" build/host/librvtrace.a -lelf -ldw -lzstd -lpthread
}

check 'perf: what writes metadata compiles apart from perf' metadata_builds
check "perf: metadata keeps what the library knows: names and values of rvtrace_keys[] in upstream/perf" "$dir/metadata"
done_testing
