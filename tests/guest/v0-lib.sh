# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# shellcheck disable=SC2154,SC2034 # of and for lib.sh
# For tests of encoders with registers and messages from before ratification. They have no filters:
# what is traced is all that runs, firmware included.

v0_registers='registers=v0,dialect=sifive,timestamp=xor,bcnt-bits=0,stack-depth=1023,icnt-bits=12,hist-bits=20'
v0_registers+=,width=8,own-hart=on,modes=6

# v0_firmware: an image of the firmware where the machine has loaded it. A test.
v0_firmware()
{
	printf '.globl _start\n_start:\n.incbin "%s"\n' \
		"$("$LAB" path host)/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin" \
		>"$TOP/build/guest/$test_name-firmware.S"
	check "an image of the firmware" "$LAB" cross-cc -nostdlib -static -Wl,-Ttext=0x80000000 \
		-o "$TOP/build/guest/$test_name-firmware" "$TOP/build/guest/$test_name-firmware.S"
}

# all_equals_truth FILE [rvt-truth-diff options]: no message tells the privilege mode, which is machine
# mode where the firmware is
all_equals_truth()
{
	set -o pipefail
	raw_pc "$1" --firmware "$TOP/build/guest/$test_name-firmware" |
		awk '!/^#/ && $4 ~ /^0*800[0-7]....$/ { $3 = "M" } { print }' |
		"$HOST/rvt-truth-diff" "${@:2}" "$dir/truth"
}
