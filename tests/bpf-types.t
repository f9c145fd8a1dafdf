#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The list of the kernel's structures that BPF programs are fitted to has those that they use, in
# order.
. "$(dirname "$0")/tap.sh"
bpf=$TOP/tools/perf-plugin/bpf
dir=$TOP/build/bpf-types-test
mkdir -p "$dir"

# NAME___VERSION is the kernel's NAME.
awk '/^struct [a-z0-9_]+ \{/ { name = $2; sub(/___.*/, "", name) }
	/^} KERNEL_STRUCT;/ { print name }' "$bpf"/*.bpf.c "$bpf"/*.h | LC_ALL=C sort -u >"$dir/used"
sed -n '/wanted\[\] = {/,/^};/p' "$bpf/kernel-types.c" | grep -o '"[^"]*"' | tr -d '"' >"$dir/listed"
check "programs use structures of the kernel" test -s "$dir/used"
check "those that are listed" diff "$dir/used" "$dir/listed"
done_testing
