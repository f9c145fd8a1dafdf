#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The devicetree overlays that boards begin with compile without a warning, apply to a tree of four
# harts, and mean what they should: encoders name their harts, links lead back where they came from.
. "$(dirname "$0")/tap.sh"
command -v fdtoverlay >/dev/null || skip_all "no fdtoverlay (package device-tree-compiler)"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

base()
{
	local hart

	{
		printf '/dts-v1/;\n/ {\ncompatible = "vendor,board";\nmodel = "board";\n#address-cells = <2>;\n#size-cells = <2>;\n'
		printf 'cpus {\n#address-cells = <1>;\n#size-cells = <0>;\n'
		for hart in 0 1 2 3; do
			printf 'cpu%d: cpu@%d {\ndevice_type = "cpu";\ncompatible = "riscv";\nreg = <%d>;\n};\n' \
				$hart $hart $hart
		done
		printf '};\nsoc {\ncompatible = "simple-bus";\n#address-cells = <2>;\n#size-cells = <2>;\nranges;\n};\n};\n'
	} >"$dir/base.dts"
	dtc -@ -I dts -O dtb -o "$dir/base.dtb" "$dir/base.dts"
}

# applied NAME: the overlay compiles, silently, and fits.
applied()
{
	dtc -@ -I dts -O dtb -o "$dir/$1.dtbo" "$TOP/Documentation/devicetree/examples/$1.dtso" 2>"$dir/words" || {
		cat "$dir/words"
		return 1
	}
	! grep . "$dir/words" || return
	fdtoverlay -i "$dir/base.dtb" -o "$dir/$1.dtb" "$dir/$1.dtbo"
}

# phandle_of NAME NODE
phandle_of()
{
	fdtget "$dir/$1.dtb" "$2" phandle
}

# harts NAME COUNT: this many encoders, and the one at 0x2000 times N traces hart N.
harts()
{
	local hart node count=0

	for node in $(fdtget -l "$dir/$1.dtb" /soc); do
		fdtget "$dir/$1.dtb" "/soc/$node" cpus >"$dir/cpus" 2>/dev/null || continue
		hart=$(((0x${node#trace@} - 0x48000000) / 0x2000))
		[ "$(cat "$dir/cpus")" = "$(phandle_of "$1" "/cpus/cpu@$hart")" ] || { echo "$node: another hart"; return 1; }
		count=$((count + 1))
	done
	[ $count = "$2" ]
}

# endpoints NAME: PATH PHANDLE REMOTE of each endpoint
endpoints()
{
	local node direction port endpoint

	for node in $(fdtget -l "$dir/$1.dtb" /soc); do
		for direction in in-ports out-ports; do
			for port in $(fdtget -l "$dir/$1.dtb" "/soc/$node/$direction" 2>/dev/null); do
				endpoint=/soc/$node/$direction/$port/endpoint
				echo "$endpoint $(phandle_of "$1" "$endpoint") $(fdtget "$dir/$1.dtb" "$endpoint" remote-endpoint)"
			done
		done
	done
}

# linked NAME COUNT: this many endpoints, each of which is its peer's peer in the other direction.
linked()
{
	endpoints "$1" >"$dir/endpoints"
	awk -v count="$2" '{ path[$2] = $1; remote[$2] = $3 } END {
		for (end in remote) {
			peer = remote[end]
			if (remote[peer] != end || (path[end] ~ /in-ports/) == (path[peer] ~ /in-ports/)) {
				print path[end] " leads to " path[peer]; bad = 1 }
			n++
		}
		exit bad || n != count }' "$dir/endpoints"
}

check "a tree of four harts" base
check "rvtrace-one-hart.dtso applies" applied rvtrace-one-hart
check "it has one encoder" harts rvtrace-one-hart 1
check "encoder and sink are linked" linked rvtrace-one-hart 2
check "rvtrace-four-harts.dtso applies" applied rvtrace-four-harts
check "it has four encoders" harts rvtrace-four-harts 4
check "encoders, funnel and sink are linked" linked rvtrace-four-harts 10
if command -v dt-validate >/dev/null; then
	check "they are as the binding says" "$TOP/Documentation/devicetree/check" \
		"$dir/rvtrace-one-hart.dtb" "$dir/rvtrace-four-harts.dtb"
else
	skip "they are as the binding says" "no dt-validate (package dt-schema)"
fi
done_testing
