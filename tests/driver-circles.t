#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The files of the driver rvtrace call each other in one direction only: no circle in the graph of
# their objects' symbols. The objects are those of `make driver`.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1

# edges MODULE: "USER PROVIDER" for each symbol that one object of the module uses and another one
# defines. Kbuild leaves the names of the objects in MODULE.mod.
edges()
{
	local object objects=()

	mapfile -t objects <"$1.mod"
	for object in "${objects[@]}"; do
		readelf -sW "$(dirname "$1")/$(basename "$object")" | awk -v object="$(basename "$object")" \
			'$5 == "GLOBAL" || $5 == "WEAK" { print $7 == "UND" ? "use" : "define", object, $8 }'
	done | awk '$1 == "define" { defined[$3] = $2 }
		$1 == "use" { uses[++n] = $2; symbol[n] = $3 }
		END {
			for (i = 1; i <= n; i++)
				if (symbol[i] in defined && defined[symbol[i]] != uses[i])
					print uses[i], defined[symbol[i]]
		}' | sort -u
}

# no_circle MODULE [FILE]: tsort names the files of a circle. The edges in FILE are added.
no_circle()
{
	local all

	all=$(edges "$1"; cat "${2:-/dev/null}")
	[ "$(wc -l <<<"$all")" -ge 2 ] || { echo "no edges were found: $all"; return 1; }
	tsort <<<"$all" >/dev/null
}

extra=$(mktemp)
trap 'rm -f "$extra"' EXIT
for kernel in stable testing; do
	module=build/driver/$kernel/drivers/hwtracing/rvtrace/rvtrace
	if [ ! -e "$module.mod" ]; then
		skip "$kernel: rvtrace" "not built: make driver"
		continue
	fi
	check "$kernel: no circle between the objects of rvtrace" no_circle "$module"
	# A test that never fails proves nothing: one edge reversed must be found.
	edges "$module" | head -n 1 | awk '{ print $2, $1 }' >"$extra"
	! no_circle "$module" "$extra" >/dev/null 2>&1
	ok $? "$kernel: one call in the other direction is found"
done
done_testing
