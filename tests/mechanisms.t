#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The patches of tools/bench/without and grammar still apply; the former are those of the table in
# Documentation/decoding.rst.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# applies PATCH: to this tree, as it is.
applies()
{
	if [ -e .git ]; then
		git apply --check "$1"
	else
		patch --dry-run --silent --force --fuzz 0 -p 1 <"$1"
	fi
}

# rows: the first columns of the table in what is read.
rows()
{
	awk '/^switched off / { table++ } table == 1' |
		sed -nE 's/^(.*[^ ])( +[0-9]+\.[0-9]+){8}$/\1/p' | sort
}

# labels PATCH...: the row of each.
labels()
{
	for patch; do
		sed -n 2p "$patch"
	done | sort
}

patches=(tools/bench/mechanisms/*.patch)
[ "${#patches[@]}" -gt 10 ]
ok $? "there are patches"
for patch in "${patches[@]}" tools/bench/grammar.patch; do
	applies "$patch" >"$dir/out" 2>&1
	ok_or_show $? "${patch##*/} applies" "$dir/out"
	sed -n '4,/^--- a/p' "$patch" | grep -q '^[^-].*\.$'
	ok $? "${patch##*/} says what it does"
done
rows <Documentation/decoding.rst >"$dir/rows"
labels "${patches[@]}" >"$dir/labels"
diff "$dir/rows" "$dir/labels" >"$dir/diff"
ok_or_show $? "each row of Documentation/decoding.rst has its patch, and no patch lacks a row" \
	"$dir/diff"

# What is no longer there is found.
sed 's/^ .*[a-z].*/&, as it was/' "${patches[0]}" >"$dir/old.patch"
! applies "$dir/old.patch" 2>"$dir/out"
ok_or_show $? "a patch of other sources does not apply" "$dir/out"
sed 's/^dense nodes /other nodes /' Documentation/decoding.rst | rows >"$dir/rows"
is "a row without a patch is found" "other nodes" "$(comm -23 "$dir/rows" "$dir/labels")"
done_testing
