#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Random instructions of RV64GC on QEMU's bare machine, group by group, verified against the golden
# model: 4000 steps a group, a million with RVT_LONG.
. "$(dirname "$0")/lib.sh"

work=$TOP/build/guest/$test_name
steps=${RVT_LONG:+1000000}
steps=${steps:-4000}
seed=${RVT_PROPERTY_SEED:-1}
cpu=rv64i,m=on,a=on,f=on,d=on,c=on,zicsr=on,zifencei=on,zicntr=on,zihpm=on,s=on,u=on,pmp=on,mmu=on,sv39=on,sv48=on,sv57=on
rm -rf "$work"
mkdir -p "$work"

# trace GROUP STEPS: $work/trace of random instructions of the group.
trace()
{
	"$HOST/rvt-insns" "$1" "$2" "$seed" "$work/image" &&
		timeout 900 "$LAB" qemu -M virt -cpu "$cpu" -smp 1 -m 256 -nodefaults \
		-display none -no-reboot -seed 1 -icount shift=5,sleep=off -bios none \
		-serial null -device "loader,file=$work/image,addr=0x80000000,force-raw=on" \
		-plugin "$TOP/build/model/rvtrace-tandem.so,out=$work/trace,quit=on"
}

# verified GROUP: no mismatch in all of the steps, nothing left out of the comparison.
verified()
{
	trace "$1" "$steps" &&
		"$HOST/perf-rvtrace" tandem verify "$work/trace" >"$work/result" || {
		cat "$work/result"
		return 1
	}
	cat "$work/result"
	! grep -q 'not compared' "$work/result" &&
		awk -v min="$steps" '/groups compared/ && $1 >= min { ok = 1 } END { exit !ok }' \
		"$work/result"
}

while read -r group; do
	check "$group: QEMU and the golden model agree in $steps steps" verified "$group"
done < <("$HOST/rvt-insns" --groups)

# Each of some result registers, with one bit turned round, must be found, at its place.
wrong_results()
{
	local offset found=0 wrong=0 place byte

	trace "$1" 500 || return 1
	while read -r offset; do
		wrong=$((wrong + 1))
		place=$((0x$offset + 3))
		cp "$work/trace" "$work/wrong"
		byte=$(od -An -tu1 -j $place -N1 "$work/trace")
		printf "\\x$(printf %02x $((byte ^ 4)))" |
			dd of="$work/wrong" bs=1 seek=$place conv=notrunc status=none
		"$HOST/perf-rvtrace" tandem verify "$work/wrong" >"$work/result"
		[ $? -eq 1 ] && place=$(sed -n 's/^mismatch at offset 0x\([0-9a-f]*\) .*/\1/p' \
			"$work/result" | head -n 1) &&
			[ $((0x$offset - 0x$place)) -ge 0 ] &&
			[ $((0x$offset - 0x$place)) -lt 128 ] && found=$((found + 1))
	done < <("$HOST/perf-rvtrace" tandem show "$work/trace" |
		awk '/ register (zero|ra|sp|gp|tp|[afst][0-9]+|f[ast][0-9]+) = / && n++ > 80 && n % 41 == 0 { print $1 }')
	echo "$found of $wrong found"
	[ "$wrong" -ge 10 ] && [ "$found" = "$wrong" ]
}
check "I: a wrong result is found where it is" wrong_results I
check "D: a wrong result is found where it is" wrong_results D

done_testing
