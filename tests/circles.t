#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Who calls whom, by the symbols of the objects: no circle between the files of the library, of the
# command or of a kernel module, none between folders, and folders call only those that the table in
# Documentation/design.rst lists. Folders of the command see only headers that are listed here.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# calls OBJECT...: a line "USER HOME SYMBOL" for each symbol that one of these objects uses and
# another one defines.
calls()
{
	nm -A "$@" | awk '{
		split($1, place, ":")
		file = place[1]
		sub(/\.o$/, "", file)
		sub(/^build\/(host|driver\/[a-z]*)\//, "", file)
		type = $(NF - 1)
		if (type == "U")
			uses[file " " $NF]
		else if (type ~ /^[ABCDGRSTVW]$/)
			home[$NF] = file
	}
	END {
		for (use in uses) {
			split(use, part, " ")
			if (part[2] in home && home[part[2]] != part[1])
				print part[1], home[part[2]], part[2]
		}
	}' | sort
}

# by_folder: the same of folders, as the table names them.
by_folder()
{
	awk '{
		for (i = 1; i <= 2; i++) {
			sub(/\/[^\/]*$/, "", $i)
			sub(/^(userspace|tools)\//, "", $i)
		}
		if ($1 != $2)
			print
	}' | sort
}

# circles FILE: the lines of FILE that are part of a circle; fails when there are any.
circles()
{
	awk '{
		line[NR] = $0
		from[NR] = $1
		to[NR] = $2
		name[$1]
		name[$2]
		reach[$1, $2]
	}
	END {
		for (middle in name)
			for (a in name)
				if ((a, middle) in reach)
					for (b in name)
						if ((middle, b) in reach)
							reach[a, b]
		for (i = 1; i <= NR; i++)
			if ((to[i], from[i]) in reach) {
				print line[i]
				bad = 1
			}
		exit bad
	}' "$1"
}

# no_circle NAME FILE
no_circle()
{
	circles "$2" >"$dir/circles"
	ok_or_show $? "$1" "$dir/circles"
}

# allowed: a line "FOLDER FOLDER" for each that the table lists.
allowed()
{
	sed -n '/^Who calls whom$/,/^\.\. end of the table$/p' Documentation/design.rst | tr -d ',' |
		awk '/^``/ { caller = $1; $1 = "" }
		/^ *``/ { for (i = 1; i <= NF; i++) if ($i != "") print caller, $i }' | tr -d '`' | sort -u
}

# objects DIRECTORY: those whose source is still there.
objects()
{
	find "build/host/$1" -name '*.o' | while read -r object; do
		source=${object#build/host/}
		[ ! -e "${source%.o}.c" ] || echo "$object"
	done
}

mapfile -t library < <(objects userspace/lib)
mapfile -t model < <(objects userspace/model)
mapfile -t plugin < <(objects tools/perf-plugin)
calls "${library[@]}" >"$dir/library"
calls "${model[@]}" >"$dir/model"
calls "${plugin[@]}" >"$dir/command"
calls "${library[@]}" "${model[@]}" "${plugin[@]}" | by_folder >"$dir/folders"
awk '{ print $1, $2 }' "$dir/folders" | sort -u >"$dir/edges"
allowed >"$dir/allowed"

[ "$(wc -l <"$dir/library")" -gt 200 ]
ok_or_show $? "the library's files call each other" "$dir/library"
[ "$(wc -l <"$dir/allowed")" -gt 20 ]
ok_or_show $? "design.rst has a table of who calls whom" "$dir/allowed"
no_circle "no circle between the library's files" "$dir/library"
[ "$(wc -l <"$dir/model")" -gt 50 ]
ok_or_show $? "the files of encoders, tandem and truth call each other" "$dir/model"
no_circle "no circle between these files" "$dir/model"
no_circle "no circle between the command's files" "$dir/command"
no_circle "no circle between folders" "$dir/folders"
comm -23 "$dir/edges" "$dir/allowed" >"$dir/unknown"
[ ! -s "$dir/unknown" ]
ok_or_show $? "no call between folders that the table does not list" "$dir/unknown"
comm -13 "$dir/edges" "$dir/allowed" >"$dir/unused"
[ ! -s "$dir/unused" ]
ok_or_show $? "the table lists no call that is not there" "$dir/unused"

# found: a test that never fails proves nothing: with one call turned round there is a circle.
found()
{
	{ cat "$dir/$1"; awk '{ print $2, $1, "none"; exit }' "$dir/$1"; } >"$dir/turned"
	! circles "$dir/turned" >/dev/null
	ok $? "$1: one call in the other direction is found"
}
found folders

# Headers that other folders may include; the rest is private to its folder.
public='common/.*|annotate/annotate|ctr/ctr|html/html|latency/latency|profile/profile|profile/merge|bpf/load|bpf/snapshot|bpf/symbols|bpf/user-code'
grep -rnE '^#include "[a-z]+/' tools/perf-plugin --include='*.[ch]' |
	sed 's,^tools/perf-plugin/\([a-z]*\)/*[^:]*:[0-9]*:#include "\([^"]*\)\.h".*,\1 \2,' |
	awk '{ split($2, to, "/") } $1 != to[1] { print }' |
	while read -r folder header; do
		[ ! -d "tools/perf-plugin/${header%%/*}" ] || echo "$folder $header"
	done | grep -vE " ($public)$" >"$dir/private"
[ ! -s "$dir/private" ]
ok_or_show $? "no folder looks into another's private headers" "$dir/private"

# The flow engine is sealed: only its folders know struct rvt_flow; others see these headers of it.
engine='userspace/lib/flow/'
grep -rnE '^#include "flow/' userspace tools --include='*.[ch]' | grep -v "^$engine" |
	grep -vE '"flow/(memo|order|control)\.h"$' >"$dir/unsealed"
grep -rnwE 'struct rvt_flow_base|rvt_flow_base\(' userspace tools --include='*.[ch]' |
	grep -v "^$engine" >>"$dir/unsealed"
[ ! -s "$dir/unsealed" ] && [ -s "${engine}memo.h" ] && [ -s "${engine}control.h" ]
ok_or_show $? "nobody looks into the flow engine" "$dir/unsealed"

for kernel in stable testing; do
	for module in hwtracing/rvtrace/rvtrace perf/riscv_ctr; do
		name=${module##*/}
		objects=build/driver/$kernel/drivers/$module
		if [ ! -e "$objects.mod" ]; then
			skip "$kernel: $name" "not built: make driver"
			continue
		fi
		# Kbuild leaves the names of a module's objects there.
		mapfile -t parts < <(sed "s|^.*/|${objects%/*}/|; s|^[^/]*$|${objects%/*}/&|" "$objects.mod")
		calls "${parts[@]}" >"$dir/$name"
		no_circle "$kernel: no circle between the files of $name" "$dir/$name"
		found "$name"
	done
done
done_testing
