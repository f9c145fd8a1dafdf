#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# What Documentation/howto-board.rst gives to boards: the overlays, at the model's addresses, are
# taken by the driver; the static command records and, in a root that has nothing else, runs. The
# file that howto-board.rst copies from the board suffices to decode.
. "$(dirname "$0")/../lib.sh"

check "the static command is built" make -s -C "$TOP" board
mkdir -p "$guest_bin"
cp "$TOP/build/board/perf-rvtrace" "$guest_bin/perf-rvtrace-board"

# overlay_hook NAME: as --dtb-hook: the machine's tree with the overlay, as a board's boot loader
# does it. QEMU's cpu nodes have no labels.
overlay_hook()
{
	hook=$TOP/build/guest/$1-hook
	cat >"$hook" <<-END
		#!/bin/bash
		set -e
		sed -i 's/^\([[:space:]]*\)cpu@\([0-9a-f]*\) {/\1cpu\2: cpu@\2 {/' "\$1"
		dtc -q -@ -I dts -O dtb -o "\$1.dtb" "\$1"
		sed "s/\(@\|0x\)480\([0-9a-f]\{5\}\)\>/\1\$(printf %x \$((LAB_TRACE_BASE >> 20)))\2/" \\
			"$TOP/Documentation/devicetree/examples/$1.dtso" >"\$1.dtso"
		dtc -q -@ -I dts -O dtb -o "\$1.dtbo" "\$1.dtso"
		fdtoverlay -i "\$1.dtb" -o "\$1.new" "\$1.dtbo"
		dtc -q -I dtb -O dts -o "\$1" "\$1.new"
	END
	chmod +x "$hook"
}

# in_order FILE...: what the recordings tell of each hart, one after another, is what it executed, in
# that order, also where the pieces of a shared sink lie in the buffers of several harts.
in_order()
{
	local file hart

	for file; do
		"$HOST/perf-rvtrace" script -i "$file" --symfs "$dir/share:$("$LAB" path guest)" --insn-trace=raw \
			-F cpu,ip || return
	done >"$dir/told"
	for hart in "$dir"/truth/truth.*; do
		awk -v hart="[00${hart##*.}]" '$1 == hart { print $2 }' "$dir/told" | sed 's/^0*//' >"$dir/decoded"
		"$HOST/rvt-truth" --pc --traced "$hart" | sed 's/^0*//' >"$dir/executed"
		[ "$(wc -l <"$dir/executed")" -gt 1000 ] && cmp "$dir/decoded" "$dir/executed" || return
	done
	rm "$dir/told" "$dir/decoded" "$dir/executed"
}

# board NAME OVERLAY HARTS TOPOLOGY COMPONENTS SECOND-EVENT COMPARISON: also with SECOND-EVENT, where one
# is named.
board()
{
	overlay_hook "$2"
	lab_options="--smp $3 --dtb-hook $hook"
	guest "$1" testing "topology=$4" '
		insmod rvtrace.ko || exit 1
		ls /sys/bus/rvtrace/devices > devices
		ls /usr/bin > names.txt
		mkdir /tmp/empty && cp perf-rvtrace-board /tmp/empty/ || exit 2
		chroot /tmp/empty /perf-rvtrace-board --version > version || exit 3
		perf-rvtrace-board record -a -o perf.data -- sort names.txt > sorted || exit 4
		PATH=/nowhere ./perf-rvtrace-board archive --files || exit 5
		second='"$6"'
		[ -z "$second" ] || perf-rvtrace-board record -a -o second.data -e "$second" -- sort names.txt > sorted || exit 7
		rmmod rvtrace || exit 6'
	ok $? "$1: recorded with the static command"
	is "$1: the driver finds the components" "$5" "$(tr '\n' ' ' <"$dir/share/devices" | sed 's/ $//')"
	check "$1: what was executed" "${@:7}"
	check "$1: no rule of the control interface was broken" no_violations
}

# files_suffice: what the page says to copy from the board is enough to decode.
files_suffice()
{
	mkdir "$dir/board" && tar -C "$dir/board" -xf "$dir/share/perf.archive.tar" || return
	set -o pipefail
	"$HOST/perf-rvtrace" script -i "$dir/board/perf.data" --symfs "$dir/board/files" --raw-pc |
		"$HOST/rvt-truth-diff" --min 100000 "$dir/truth"
}

board one rvtrace-one-hart 1 direct "encoder-0 ramsink-0" '' files_suffice
# Where the trace has no time stamps, the times of AUX records order the pieces.
board four rvtrace-four-harts 4 funnel "encoder-0 encoder-1 encoder-2 encoder-3 funnel-0 ramsink-0" \
	rvtrace/context,timestamp=0/ in_order "$TOP/build/guest/$test_name-four/share/perf.data" \
	"$TOP/build/guest/$test_name-four/share/second.data"
done_testing
