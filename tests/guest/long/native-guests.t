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

# executed NAME: is native perf's list of instructions what was executed? It does not print modes; the
# guest's program is behind its kernel.
executed()
{
	local program

	program=$("$LAB" cross nm "$guest_bin/vmm-guest" | awk '$3 == "user_begin" { print $1 }')
	set -o pipefail
	native_perf script -i "$dir/share/$1.data" --itrace=i1ie -F cpu,tid,ip --guestvmlinux "$guest_bin/vmm-guest" |
		native_lines | awk -v program="${program#00000000}" '
			/^#/ || $4 !~ /^8000/ { print; next }
			{ guest++; print $1, $2, $4 "" < program "" ? "VS" : "VU", $4 }
			END { exit guest < 100000 }' | "$HOST/rvt-truth-diff" --min 1000000 "$dir/truth"
}

# read_by_ours NAME: perf rvtrace reads it, and the copy of the kernel that is beside it. The vdso is
# not there.
read_by_ours()
{
	raw_pc "$dir/share/$1.data" --guestvmlinux "$guest_bin/vmm-guest" 2>/dev/null >"$dir/ours"
	[ "$(awk '$3 ~ /V/ { n++ } END { print n }' "$dir/ours")" -gt 100000 ] &&
		"$HOST/rvt-truth-diff" --lossy --min 1000000 "$dir/truth" <"$dir/ours"
}

# branches FIELDS FLAG: lines of the branches with that flag
branches()
{
	native_perf script -i "$dir/share/both.data" --itrace=b -F "$1" \
		--guestvmlinux "$guest_bin/vmm-guest" 2>/dev/null | grep "$2"
}

for protocol in N-Trace E-Trace; do
	hook_options=
	args=
	if [ $protocol = E-Trace ]; then
		kvm_etrace_params
		hook_options="--params $guest_bin/etrace-guests"
		args="formats=etrace,etrace=$guest_bin/etrace-guests"
	fi
	GUEST_TIMEOUT=400 guest $protocol testing "$args" "
		$native_in_guest
		insmod kvm.ko || exit 2
		# a copy: of a file that is mapped before and while perf records, perf may lose the build id
		cp vmm holder && ./holder hold & sleep 1
		record both -a --kcore -m 8M,64M -e rvtrace// -- ./vmm ./vmm-guest 200 || exit 3
		kill \$!
		rmmod rvtrace"
	ok $? "$protocol: perf records a guest and its host"
	check "$protocol: its list of instructions is what was executed" executed both
	check "$protocol: so is that of perf rvtrace" read_by_ours both
	vmm=$(awk '$3 == "VS" { print $2; exit }' "$dir/ours")
	# where the encoder was switched off in the guest, that is its end
	entries=$(branches comm,flags vmentry | wc -l) exits=$(branches comm,flags 'vmexit\|guest.*tr end' | wc -l)
	[ "$entries" -gt 2 ] && [ "$entries" -eq "$exits" ]
	ok $? "$protocol: the guest is entered ($entries) as often as it is left ($exits)"
	is "$protocol: the guest is a process of its own" "[guest/$vmm]" \
		"$(native_perf script -i "$dir/share/both.data" --itrace=i1000i -F comm,dso,ip \
			--guestvmlinux "$guest_bin/vmm-guest" 2>/dev/null | awk '/vmm-guest/ { print $1 }' | sort -u)"
	is "$protocol: without its code nothing of it is told" 0 \
		"$(native_pc both | awk '$4 ~ /^8000/ { n++ } END { print n + 0 }')"
	check "$protocol: no rule of the control interface was broken" no_violations
done
done_testing
