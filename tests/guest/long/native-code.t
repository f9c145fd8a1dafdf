#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf decodes code that is in no file: a JIT compiler's, by way of
# `perf inject --jit`, and that of BPF programs, by way of their records.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"

native_built || skip_all "$native_missing"
check "cross-compile the programs" eval "workload processes -ldl && workload filters"
for n in 1 2; do
	"$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=$n -o "$guest_bin/plugin-$n.so" "$TOP/tests/guest/workloads/plugin.c"
done
native_guest_programs

# listed FIELDS: all instructions of jitted.data. The vdso is not there.
listed()
{
	"$native/bin/perf" script -i "$dir/share/jitted.data" --symfs "$dir/root" --itrace=i1i -F "$1" 2>/dev/null
}

for protocol in N-Trace E-Trace; do
	native_protocol "$protocol"
	# The time in a dump is that of the trace, as with Intel PT: perf inject --jit wants CLOCK_MONOTONIC else.
	guest "$protocol-jit" testing "$model_args" "
		$native_in_guest
		export JITDUMP_USE_ARCH_TIMESTAMP=1
		record jit -m ,8M -e rvtrace//u -- processes ./plugin-1.so ./plugin-2.so || exit 2
		native-perf inject --jit -i jit.data -o jitted.data"
	ok $? "$protocol: a JIT compiler's code is recorded"
	mkdir -p "$dir/root/mnt"
	ln -s "$dir/share" "$dir/root/mnt/share"
	ln -s "$("$LAB" path guest)/usr" "$dir/root/usr"
	is "$protocol: it was executed as often as it was called, function by function" \
		"jit_first $((61 * 2)) jit_second $((67 * 3)) " \
		"$(listed ip,sym | awk '$2 ~ /^jit_/ { n[$2]++ } END { for (name in n) print name, n[name] }' | sort | tr '\n' ' ')"

	guest "$protocol-bpf" testing "$model_args" "
		$native_in_guest
		sysctl -q -w net.core.bpf_jit_enable=1
		record bpf -a --kcore -m 8M,64M -e rvtrace// -- filters 300 500"
	ok $? "$protocol: BPF programs are recorded, which come and go"
	check "$protocol: what was decoded is what was executed" native_equals_truth bpf --min 1000000
	native_perf script -i "$dir/share/bpf.data" --itrace=i1i -F ip,sym 2>/dev/null >"$dir/bpf"
	for name in gone_first gone_second; do
		[ "$(grep -c "bpf_prog_[0-9a-f]*_$name" "$dir/bpf")" -gt 300 ]
		ok $? "$protocol: also in $name"
	done
done
done_testing
