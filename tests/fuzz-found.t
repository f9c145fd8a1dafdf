#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What fuzzing has found stays mended: tests/fuzz/found/TARGET/* are inputs that once broke the
# target of that name.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
programs=build/asan/fuzz
# programs that recordings name
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{ntrace,coresight,etrace,recording,params,elf,jitdump,kallsyms,tandem,ctr,index,shared,rsp,fleet} $programs/files
check "programs that recordings name" build/asan/fuzz-seeds "$scratch" $programs/files

for input in tests/fuzz/found/*/*; do
	target=$(basename "$(dirname "$input")")
	# What threads do differs from run to run.
	[ "$target" = jobs ] && n=8 || n=1
	for ((; n; n--)); do
		$programs/"$target" "$input" >"$scratch/out" 2>&1 || break
	done
	ok_or_show $n "$target: $(basename "$input")" "$scratch/out"
done
done_testing
