#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The files of the command call each other in one direction only, and so do its folders: no circle in
# the graph of their objects' symbols. Folders see only what is listed here of each other.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
objects=build/host/tools/perf-plugin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# "USER PROVIDER" for each symbol that one object uses and another one defines
find "$objects" -name '*.o' -exec nm -A {} + | sed "s,^$objects/,," |
	awk -F'\\.o:' '{ n = split($2, f, " "); kind = f[n - 1]; name = f[n] }
		kind ~ /^[TDBRVW]$/ { defined[name] = $1 }
		kind == "U" { user[++uses] = $1; symbol[uses] = name }
		END { for (i = 1; i <= uses; i++)
			if (symbol[i] in defined && defined[symbol[i]] != user[i])
				print user[i], defined[symbol[i]] }' | sort -u >"$dir/files"
sed 's,/[^ ]*,,g' "$dir/files" | awk '$1 != $2' | sort -u >"$dir/folders"

[ "$(wc -l <"$dir/files")" -gt 100 ]
ok $? "there are calls between files ($(wc -l <"$dir/files"))"
check "no circle between files" tsort "$dir/files"
check "no circle between folders" tsort "$dir/folders"
# A test that never fails proves nothing.
head -n 1 "$dir/files" | awk '{ print $2, $1 }' | cat "$dir/files" - >"$dir/reversed"
! tsort "$dir/reversed" >/dev/null 2>&1
ok $? "one call in the other direction is found"

# Headers that other folders may include; the rest is private to its folder.
public='common/.*|ctr/ctr|profile/profile|bpf/load|bpf/snapshot'
grep -rnE '^#include "[a-z]+/' tools/perf-plugin --include='*.[ch]' |
	sed 's,^tools/perf-plugin/\([a-z]*\)/*[^:]*:[0-9]*:#include "\([^"]*\)\.h".*,\1 \2,' |
	awk '{ split($2, to, "/") } $1 != to[1] { print }' |
	while read -r folder header; do
		[ ! -d "tools/perf-plugin/${header%%/*}" ] || echo "$folder $header"
	done | grep -vE " ($public)$" >"$dir/private"
[ ! -s "$dir/private" ]
ok_or_show $? "no folder looks into another's private headers" "$dir/private"
done_testing
