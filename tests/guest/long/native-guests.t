#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# perf with the series in upstream/perf records a guest of KVM with its host and decodes both: the flow
# is what was executed. workloads/vmm.c and vmm-guest.S are the virtual machine.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../native-lib.sh"
. "$(dirname "$0")/../kvm-lib.sh"

native_built || skip_all "$native_missing"
kvm_programs
native_guest_programs
kvm_module testing
lab_options="--cpu rv64,h=true"

# list NAME OPTION...: native perf's list of instructions: hart, thread and address
list()
{
	native_perf script -i "$dir/share/$1.data" --itrace=i1ie -F cpu,tid,ip "${@:2}" 2>"$dir/native.err" |
		native_lines
}

# executed NAME: is the list of native perf that of perf rvtrace, and that what was executed? Modes are
# compared in the latter: perf does not print them.
executed()
{
	set -o pipefail
	raw_pc "$dir/share/$1.data" --guestvmlinux "$guest_bin/vmm-guest" >"$dir/ours" 2>/dev/null
	"$HOST/rvt-truth-diff" --min 1000000 "$dir/truth" <"$dir/ours" || return
	for list in ours native; do
		if [ $list = native ]; then
			list "$1" --guestvmlinux "$guest_bin/vmm-guest"
		else
			cat "$dir/ours"
		fi | awk '!/^#/ { print $1, $2, $4 }' | sort -s -k 1,1n >"$dir/$list.list"
	done
	wc -l "$dir/ours.list" "$dir/native.list"
	cmp "$dir/ours.list" "$dir/native.list"
}

# branches FIELDS FLAG: lines of the branches with that flag
branches()
{
	native_perf script -i "$dir/share/both.data" --itrace=b -F "$1" \
		--guestvmlinux "$guest_bin/vmm-guest" 2>/dev/null | grep -w "$2"
}

for protocol in N-Trace E-Trace; do
	hook_options=
	args=
	if [ $protocol = E-Trace ]; then
		# A guest's modes need 3 bits in packets of E-Trace.
		{
			cat "$TOP/tools/model/params/etrace-2.0"
			echo "privilege_width_p = 3"
		} >"$guest_bin/etrace-guests"
		hook_options="--params $guest_bin/etrace-guests"
		args="formats=etrace,etrace=$guest_bin/etrace-guests"
	fi
	GUEST_TIMEOUT=400 guest $protocol testing "$args" "
		$native_in_guest
		insmod kvm.ko || exit 2
		./vmm hold & sleep 1
		record both -a --kcore -m 8M,64M -e rvtrace// -- ./vmm ./vmm-guest 200 || exit 3
		kill \$!
		rmmod rvtrace"
	ok $? "$protocol: perf records a guest and its host"
	check "$protocol: its list of instructions is what was executed" executed both
	vmm=$(awk '$3 == "VS" { print $2; exit }' "$dir/ours")
	entries=$(branches cpu,flags vmentry | wc -l) exits=$(branches cpu,flags vmexit | wc -l)
	[ "$entries" -gt 200 ] && [ "$((entries - exits))" -le 2 ] && [ "$((exits - entries))" -le 2 ]
	ok $? "$protocol: the guest is entered ($entries) as often as it is left ($exits)"
	is "$protocol: the guest is a process of its own" "[guest/$vmm]" \
		"$(native_perf script -i "$dir/share/both.data" --itrace=i1000i -F comm,dso,ip \
			--guestvmlinux "$guest_bin/vmm-guest" 2>/dev/null | sed -n 's/ .*(.*vmm-guest)$//p' | sort -u)"
	is "$protocol: without its code nothing of it is told" 0 \
		"$(list both | awk '$4 ~ /^8000/ { n++ } END { print n + 0 }')"
	check "$protocol: no rule of the control interface was broken" no_violations
done
rm -rf "$guest_bin"
done_testing
