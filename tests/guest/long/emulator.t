#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Faults of the emulator that disturb tests (Documentation/testing.rst): here it shows when they are
# gone. Without the model.
. "$(dirname "$0")/../lib.sh"

dir=$TOP/build/guest/$test_name
rm -rf "$dir"
mkdir -p "$dir"
check "cross-compile the program" workload stale-code -static
cp "$guest_bin/stale-code" "$dir"
check "it runs" "$LAB" run --kernel stable --smp 2 --share "$dir" --timeout 300 -- \
	'cd /mnt/share && for i in 1 2 3; do ./stale-code 20 >> stale; done'
diag <"$dir/stale"
name="a hart executes what another has written"
if [ "$(wc -l <"$dir/stale")" -eq 3 ] && grep -q ', [1-9][0-9]* stay old' "$dir/stale"; then
	skip "$name" "QEMU keeps an old translation now and then"
else
	is "$name" 3 "$(grep -c '^[1-9][0-9]* written, 0 stay old' "$dir/stale")"
fi
rm -rf "$guest_bin"
done_testing
