#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The unit tests on the architecture that the library is for: cross-built, run in the guest. Those of
# the golden model stay out: Unicorn is for the machine that analyses.
. "$(dirname "$0")/../lib.sh"

dir=$TOP/build/guest/$test_name
rm -rf "$dir"
mkdir -p "$dir/share/build/riscv64/unit"
check "the unit tests are built for riscv64" \
	make -s -C "$TOP" WERROR=0 unit-programs-riscv64
for program in "$TOP"/build/riscv64/unit/*_test; do
	riscv64-linux-gnu-nm "$program" | grep -q ' tandem_unicorn_create$' ||
		cp "$program" "$dir/share/build/riscv64/unit/"
done
cp -r "$TOP/tests" "$dir/share/tests"
cp "$("$LAB" path guest)"/usr/lib/riscv64-linux-gnu/libcmocka.so* "$dir/share/"
cat >"$dir/share/run" <<'END'
cd /mnt/share || exit 1
export LD_LIBRARY_PATH=/mnt/share CMOCKA_MESSAGE_OUTPUT=TAP RVT_PROPERTY_CASES=5
for program in build/riscv64/unit/*_test; do
	name=${program##*/}
	timeout 2700 "$program" > "$name.tap" 2>&1
	echo "$name $?" >> statuses
done
END
"$LAB" run --smp 2 --mem 2048 --share "$dir/share" --timeout 10800 -- sh /mnt/share/run >"$dir/output" 2>&1
ok $? "the guest ran them"
while read -r name status; do
	ok "$status" "$name"
	[ "$status" -eq 0 ] || grep -v '^ok' "$dir/share/$name.tap" | head -n 20 | sed 's/^/# /' >&2
done <"$dir/share/statuses"
done_testing
