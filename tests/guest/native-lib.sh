# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# shellcheck disable=SC2154 # of lib.sh
# For tests of perf with the series in upstream/perf, as `make perf` and `make perf ARCH=riscv` leave
# it in build/perf. In the guest it is called native-perf.

native=$TOP/build/perf/install-host
native_riscv=$TOP/build/perf/install-riscv64

# native_library FOR PREFIX: the library there is that of this tree, which may be newer than perf.
native_library()
{
	flock "$2/lib" make --no-print-directory -C "$TOP" install-library "LIB_FOR=$1" "prefix=$2" DESTDIR= >&2
}

# native_built: whether both are there; if not, $native_missing says why.
native_built()
{
	native_missing=
	[ -x "$native/bin/perf" ] || native_missing="perf with the series is not built: make perf"
	[ -x "$native_riscv/bin/perf" ] ||
		native_missing="perf with the series is not built for the guest: make perf ARCH=riscv"
	[ -z "$native_missing" ] || return
	native_library host "$native" && native_library riscv64 "$native_riscv" ||
		native_missing="the library does not build"
	[ -z "$native_missing" ]
}

# native_guest_programs: what guest() takes along
native_guest_programs()
{
	mkdir -p "$guest_bin"
	cp "$native_riscv/bin/perf" "$guest_bin/native-perf"
	cp "$native_riscv/lib/librvtrace.so.0" "$guest_bin/"
}

# native_protocol N-Trace|E-Trace: sets $hook_options and $model_args, for guest(), so that encoders
# speak it.
# shellcheck disable=SC2034 # for those who call this
native_protocol()
{
	hook_options=
	model_args=
	[ "$1" = E-Trace ] || return 0
	hook_options="--params $TOP/tools/model/params/etrace-2.0"
	model_args="etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
}

# First lines of a guest's script. record NAME ARGUMENT... makes NAME.data; the cache of files, which
# keeps the vdso, is there only without build ids in the records of mappings.
# shellcheck disable=SC2034,SC2016
native_in_guest='
	export LD_LIBRARY_PATH=/mnt/share
	record()
	{
		name=$1
		shift
		native-perf --buildid-dir /mnt/share/debug record --no-buildid-mmap --proc-map-timeout 60000 \
			-o "$name.data" "$@" > "$name.out" 2> "$name.log"
	}
	insmod rvtrace.ko || exit 1
	seq 1 600 | awk "{ print (\$1 * 7919) % 100003, \"word\" \$1 }" > input'

# native_tests NAME KERNEL MODEL-ARGS: perf's own tests of RISC-V trace pass in a guest.
native_tests()
{
	local name=$1 kernel=$2 args=$3

	tar -C "$native_riscv/libexec" -cf "$guest_bin/perf-core.tar" perf-core/tests || return
	guest "$name" "$kernel" "$args" '
		export LD_LIBRARY_PATH=/mnt/share PERF_EXEC_PATH=/tmp/perf-core
		busybox tar -C /tmp -xf perf-core.tar && cp native-perf perf && insmod rvtrace.ko || exit 1
		perf test -v "RISC-V trace" > tests.out 2>&1
		rmmod rvtrace'
	ok $? "$name: perf's tests were run" || return
	check "$name: perf's test of what it records and decodes passes" \
		grep -q 'Check RISC-V trace: recording and decoding .*: Ok' "$dir/share/tests.out"
	check "$name: perf's test of metadata passes" grep -q 'RISC-V trace.*: Ok' "$dir/share/tests.out"
	check "$name: none of them fails or is skipped" eval "[ -s '$dir/share/tests.out' ] && ! grep ': FAILED\|: Skip' '$dir/share/tests.out'"
}

# native_perf COMMAND ARGUMENT...: the one of this machine, on what the guest left.
# Code comes from the cache, for which --symfs would name another.
native_perf()
{
	"$native/bin/perf" --buildid-dir "$dir/share/debug" "$@"
}

# native_pc NAME: of NAME.data, one line per retired instruction, as raw_pc
native_pc()
{
	native_perf script -i "$dir/share/$1.data" --itrace=i1ie -F cpu,tid,ip | native_lines
}

native_lines()
{
	awk '
		/trace error/ { print "# lost " $0; next }
		# an event of which no cpu is recorded
		$2 == "[-01]" { next }
		{
			gsub(/[][]/, "", $2)
			print $2 + 0, $1, ($3 ~ /^ffffff/ ? "S" : "U"), $3
		}'
}

# native_threads NAME: the threads that NAME.data is of, by what its sideband says, as options
native_threads()
{
	native_perf script -i "$dir/share/$1.data" --no-itrace --show-task-events | sed -n '
		/ 0\.000000: /d
		s,.*PERF_RECORD_COMM[^:]*: .*:[0-9]*/\([0-9]*\)$,--thread \1,p
		s/.*PERF_RECORD_FORK([0-9]*:\([0-9]*\)).*/--thread \1/p' | sort -u
}

# native_equals_truth NAME [rvt-truth-diff options]: is what perf decodes what was executed?
native_equals_truth()
{
	local name=$1

	shift
	set -o pipefail
	native_pc "$name" | "$HOST/rvt-truth-diff" "$@" "$dir/truth"
}

# native_same NAME: perf and perf rvtrace decode NAME.data to the same list of instructions, hart by
# hart. Neither has the vdso here.
native_same()
{
	"$native/bin/perf" script -i "$dir/share/$1.data" --symfs "$("$LAB" path guest)" --itrace=i1i \
		-F cpu,tid,ip 2>/dev/null | native_lines | sort -s -k 1,1n >"$dir/native.list"
	raw_pc "$dir/share/$1.data" 2>/dev/null | grep -v '^#' | sort -s -k 1,1n >"$dir/ours.list"
	[ "$(wc -l <"$dir/ours.list")" -gt 100000 ] && cmp "$dir/native.list" "$dir/ours.list"
}
