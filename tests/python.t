#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The Python package: its structs are the compiler's, its iterators agree with the command.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
command -v python3 >/dev/null || skip_all "no python3"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export RVTRACE_LIBRARY=$TOP/build/host/librvtrace.so PYTHONPATH=$TOP/userspace/python
export PYTHONDONTWRITEBYTECODE=1

layouts()
{
	python3 tests/python/layouts.py >"$dir/layouts.c" &&
		cc -Iinclude -o "$dir/layouts" "$dir/layouts.c" && "$dir/layouts" >"$dir/of-c" &&
		python3 tests/python/layouts.py python >"$dir/of-python" && diff "$dir/of-c" "$dir/of-python"
}

views()
{
	build/host/rvt-recording "$dir/perf.data" /program 0 prog 30000 || return
	mkdir "$dir/root" && mv "$dir/perf.data.program" "$dir/root/program" || return
	build/host/perf-rvtrace script --raw-pc -i "$dir/perf.data" --symfs "$dir/root" >"$dir/raw" || return
	[ "$(grep -vc '^#' "$dir/raw")" -gt 30000 ] || return
	python3 tests/python/views.py "$dir/perf.data" "$dir/root" "$dir/raw"
}

# c.nop; beq zero, zero, 200; nop; beq zero, zero, 300; c.nop; nop; c.ebreak at 100, and the third run
# of 8.4.2 of the N-Trace specification.
dump()
{
	printf '\1\0\143\17\0\16\23\0\0\0\143\13\0\36\1\0\23\0\0\0\2\220' >"$dir/code"
	printf 'protocol = ntrace\ndialect = 1.0\nmode = htm\n' >"$dir/params"
	printf '%s\n' 'ProgTraceSync SYNC=3 F-ADDR=0x80' 'ProgTraceCorrelation EVCODE=0 CDF=1 I-CNT=10 HIST=0b1_00' |
		build/host/rvt-asm "$dir/params" >"$dir/dump" || return
	python3 - "$dir" <<-'EOF'
	import sys
	import rvtrace

	where = sys.argv[1]
	with rvtrace.Dump(where + "/dump", params=where + "/params", raw={0x100: where + "/code"}) as dump:
	    for run, address in dump.addresses():
	        print(f"{address:x}")
	    assert not dump.losses, dump.losses
	EOF
}

dump_addresses()
{
	dump >"$dir/addresses"
	diff - "$dir/addresses" <<<"$(printf '%s\n' 100 102 106 10a 10e 110)"
}

check "structs are those of the headers" layouts
check "iterators agree with the command and with each other" views
check "a dump's addresses are those of the specification's example" dump_addresses
done_testing
