# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests of perf with the series in upstream/perf, as `make perf` and `make perf ARCH=riscv` leave
# it in build/perf. In the guest it is called native-perf.

native=$TOP/build/perf/install-host
native_riscv=$TOP/build/perf/install-riscv64

# native_built: whether both are there; if not, $native_missing says why.
native_built()
{
	native_missing=
	[ -x "$native/bin/perf" ] || native_missing="perf with the series is not built: make perf"
	[ -x "$native_riscv/bin/perf" ] ||
		native_missing="perf with the series is not built for the guest: make perf ARCH=riscv"
	[ -z "$native_missing" ]
}

# native_guest_programs: what guest() takes along
native_guest_programs()
{
	mkdir -p "$guest_bin"
	cp "$native_riscv/bin/perf" "$guest_bin/native-perf"
	cp "$native_riscv/lib/librvtrace.so.0" "$guest_bin/"
}

# First lines of a guest's script. The cache of files keeps the vdso, too, which is no file.
# shellcheck disable=SC2034,SC2016
native_in_guest='
	export LD_LIBRARY_PATH=/mnt/share PERF_BUILDID_DIR=/mnt/share/debug
	insmod rvtrace.ko || exit 1'

# native_perf COMMAND ARGUMENT...: the one of this machine, on what the guest left.
native_perf()
{
	PERF_BUILDID_DIR="$dir/share/debug" "$native/bin/perf" "$@"
}

# native_pc NAME: of NAME.data, one line per retired instruction, as raw_pc
native_pc()
{
	native_perf script -i "$dir/share/$1.data" --symfs "$("$LAB" path guest)" --itrace=i1ie \
		-F cpu,tid,ip | awk '
		/trace error/ { print "# lost " $0; next }
		{
			gsub(/[][]/, "", $2)
			print $2 + 0, $1, ($3 ~ /^ffffff/ ? "S" : "U"), $3
		}'
}

# native_equals_truth NAME [rvt-truth-diff options]: is what perf decodes what was executed?
native_equals_truth()
{
	local name=$1

	shift
	set -o pipefail
	native_pc "$name" | "$HOST/rvt-truth-diff" "$@" "$dir/truth"
}
