#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The driver's sources as `make install` leaves them for DKMS build against each kernel's headers,
# without the rest of this tree.
. "$(dirname "$0")/../lib.sh"

dir=$TOP/build/guest/dkms
rm -rf "$dir"
check "the sources are installed" \
	env MAKEFLAGS='' make -C "$TOP" --no-print-directory install-dkms \
	DESTDIR="$dir" prefix=/usr
for kernel in stable testing; do
	cp -r "$dir"/usr/src/rvtrace-* "$dir/$kernel"
	check "$kernel: they build" "$LAB" kmake --kernel $kernel "$dir/$kernel" modules
	[ -s "$dir/$kernel/drivers/hwtracing/rvtrace/rvtrace.ko" ] &&
		[ -s "$dir/$kernel/drivers/perf/riscv_ctr.ko" ]
	ok $? "$kernel: both modules are where dkms.conf says"
done
done_testing
