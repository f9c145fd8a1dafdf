#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A guest of KVM is traced from the host, in N-Trace and in E-Trace: with the host, without it, and
# left out. Its flow is that which was executed, and is told apart from the host's. The encoder is
# out of the guest's reach. workloads/vmm.c and vmm-guest.S are the virtual machine.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../kvm-lib.sh"
. "$(dirname "$0")/../v0-lib.sh"

kvm_programs
"$LAB" cross nm "$guest_bin/vmm-guest" >"$guest_bin/kallsyms" &&
	"$LAB" cross strip -o "$guest_bin/vmm-guest.stripped" "$guest_bin/vmm-guest"
ok $? "its symbols on their own"
lab_options="--cpu rv64,h=true"
kvm_etrace_params
three=$guest_bin/etrace-guests two=$TOP/tools/model/params/etrace-2.0
# where the encoder of hart 0 is (lab run --mem 1024)
encoder=0xc0000000

# In all scenes.
load="insmod rvtrace.ko && insmod kvm.ko || exit 1
	./vmm hold & sleep 1
	record() { perf-rvtrace record -q -a \"\$@\" -- ./vmm ./vmm-guest 200 > said || return 1; mv /tmp/*.data .; }"

# flow NAME [options]: one line per instruction, with the guest's code
flow()
{
	raw_pc "$dir/share/$1.data" --guestvmlinux "$guest_bin/vmm-guest" "${@:2}"
}

# modes NAME: in which privilege modes instructions were executed
modes() { flow "$1" | awk '!/^#/ { n[$3]++ } END { for (mode in n) print mode }' | sort | xargs; }

# count NAME AWK-CONDITION: instructions of the guest
count() { flow "$1" | awk "!/^#/ && ($2) { n++ } END { print n + 0 }"; }



# all NAME...: the flow of these recordings, one after the other, is all that was traced
all()
{
	local name

	for name in "$@"; do
		# without Ownership messages scontext is whatever was there
		flow "$name" | { [ "$name" = untold ] && sed 's/^\([0-9]*\) [^ ]* /\1 - /' || cat; }
	done 2>"$dir/flow.err" | "$HOST/rvt-truth-diff" --min 100000 "$dir/truth"
}

# both_tell WHAT RECORDING...: what of host and guests is in the scene's recordings
both_tell()
{
	check "$1: the flow is what was executed" all "${@:2}"
	is "$1: all modes" "S U VS VU" "$(modes both)"
	is "$1: //G: guests only" "VS VU" "$(modes guests)"
	is "$1: //H: the host only" "S U" "$(modes host)"
	[ "$(count guests '$3 ~ /V/')" -gt 100000 ] &&
		[ "$(count both '$3 ~ /V/')" = "$(count guests '$3 ~ /V/')" ]
	ok $? "$1: the guest's flow is the same with and without the host's"
	views "$1"
	without_code "$1"
}

# view COMMAND...: of the recording of both, with the guest's code
view()
{
	"$HOST/${command:-perf-rvtrace}" "$@" -i "$dir/share/both.data" \
		--symfs "$dir/share:$("$LAB" path guest)" --guestvmlinux "$guest_bin/vmm-guest" \
		2>"$dir/view.err"
}

# modes_of_samples: cpumodes in samples.data (1 host's kernel, 2 user; 4 and 5: a guest's)
modes_of_samples()
{
	python3 - "$dir/samples.data" <<-END
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at, size = struct.unpack_from("<QQ", data, 40)
		end, modes = at + size, set()
		while at < end:
		    type, misc, size = struct.unpack_from("<IHH", data, at)
		    if type == 9:
		        modes.add(misc & 7)
		    at += size
		print(*sorted(modes))
	END
}

# views WHAT: a guest is a process of its own, whose calls are not the host's.
views()
{
	local vmm

	vmm=$(flow both | awk '!/^#/ && $3 == "VS" { print $2; exit }')
	is "$1: the guest is that of its process" "[guest/$vmm]" \
		"$(view report -s comm,dso | awk '$NF == "vmm-guest" { print $(NF - 1) }' | sort -u)"
	is "$1: its outermost function is its own" "_start (vmm-guest)" \
		"$(view report -g --stdio -c "[guest/$vmm]" |
			awk '!/^#/ && NF > 4 && !seen++ { print $(NF - 1), $NF }')"
	is "$1: nobody calls the host, nor is called by it" 0 \
		"$(view report -g --stdio -c "[guest/$vmm]" | grep -c '\[k\]\|\[unknown\]')"
	is "$1: and it is in no call of the host's" 0 \
		"$(view report -g --stdio -c vmm | grep -c 'vmm-guest\|\[guest')"
	is "$1: functions are named by --guestkallsyms" \
		"$(view report -s sym -c "[guest/$vmm]" | awk '!/^#/ { print $NF, $2 }')" \
		"$(view report -s sym -c "[guest/$vmm]" --guestkallsyms "$guest_bin/kallsyms" \
			--guestvmlinux "$guest_bin/vmm-guest.stripped" | awk '!/^#/ { print $NF, $2 }')"
	check "$1: samples can be made of it" view inject --itrace=i100ig -o "$dir/samples.data"
	is "$1: they have perf's modes of host and guest" "1 2 4 5" "$(modes_of_samples)"
	is "$1: slices of the recording tell the same" \
		"$(command=perf-rvtrace-small-slices view script --branches --jobs 1 | cksum)" \
		"$(command=perf-rvtrace-small-slices view script --branches --jobs 3 | cksum)"
}

# without_code WHAT: the guest's code is never looked for in the host's.
without_code()
{
	is "$1: without its code the guest's flow is lost" "S U" \
		"$(raw_pc "$dir/share/both.data" 2>"$dir/lost.err" |
			awk '!/^#/ { n[$3]++ } END { for (mode in n) print mode }' | sort | xargs)"
	check "$1: what is needed is said" grep -q 'Give --guestvmlinux' "$dir/lost.err"
	check "$1: the host's flow is what was executed" sh -c "
		'$HOST/perf-rvtrace' script --raw-pc -i '$dir/share/both.data' \
			--symfs '$dir/share:$("$LAB" path guest)' 2>/dev/null |
			'$HOST/rvt-truth-diff' --lossy --min 10000 '$dir/truth'"
}

for kernel in testing stable; do
	kvm_module $kernel
	GUEST_TIMEOUT=400 guest ntrace-$kernel $kernel '' "$load
		record -o /tmp/both.data || exit 2
		record -e rvtrace//G -o /tmp/guests.data || exit 3
		record -e rvtrace//H -o /tmp/host.data || exit 4
		record -e rvtrace/context=0/ -o /tmp/untold.data || exit 5
		perf-rvtrace record -a -e rvtrace/context=0/G -o /tmp/refused.data -- true 2> refused && exit 6
		dmesg | grep 'event refused' >> refused
		./vmm ./vmm-guest 3 $encoder > reach 2>&1
		kill \$!
		rmmod rvtrace"
	ok $? "$kernel, N-Trace: a guest is recorded"
	both_tell "$kernel, N-Trace" both guests host untold
	is "$kernel: without Ownership messages guests are left out" "S U" "$(modes untold)"
	check "$kernel: and an event of guests only is refused" \
		grep -q 'no trace that tells guests' "$dir/share/refused"
	is "$kernel: the encoder's registers are no memory of the guest's" \
		"load $encoder 4 0, store $encoder 4 0x3" \
		"$(sed -n '/^load/p; /^store/p' "$dir/share/reach" | paste -sd, | sed 's/,/, /')"
	if [ $kernel = stable ]; then
		# The first one is the end of the guest with KVM of 6.12.
		grep -q '^vmm: KVM_RUN: ' "$dir/share/reach" && ! grep -q '^says' "$dir/share/reach"
	else
		grep -q '^says 0: 0x[0-9a-f]* 0x8 0x2$' "$dir/share/reach"
	fi
	ok $? "$kernel: scontext, hcontext, CTR's and the hypervisor's CSRs are illegal for a guest"
	check "$kernel: no rule of the control interface was broken" no_violations
done

hook_options="--params $three"
GUEST_TIMEOUT=400 guest etrace stable "formats=etrace,etrace=$three" "$load
	record -o /tmp/both.data || exit 2
	record -e rvtrace//G -o /tmp/guests.data || exit 3
	record -e rvtrace//H -o /tmp/host.data || exit 4
	kill \$!
	rmmod rvtrace"
ok $? "E-Trace: a guest is recorded"
both_tell "E-Trace" both guests host
check "E-Trace: no rule of the control interface was broken" no_violations

hook_options="--params $two"
GUEST_TIMEOUT=400 guest narrow stable "formats=etrace,etrace=$two" "$load
	record -o /tmp/both.data || exit 2
	perf-rvtrace record -a -e rvtrace//G -o /tmp/refused.data -- true 2> refused && exit 3
	dmesg | grep 'event refused' >> refused
	kill \$!
	rmmod rvtrace"
ok $? "E-Trace without room for a guest's modes: the host is recorded"
is "that leaves guests out" "S U" "$(modes both)"
check "the flow is what was executed" all both
check "an event of guests only is refused" grep -q 'no trace that tells guests' "$dir/share/refused"

# Neither filters nor messages know guests: the encoder is stopped while one runs. It has the
# addresses of the firmware.
v0_firmware
hook_options="--topology direct --registers v0"
for kernel in testing stable; do
	kvm_module $kernel
	GUEST_TIMEOUT=400 guest v0-$kernel $kernel "topology=direct,$v0_registers" "
		insmod rvtrace.ko && insmod kvm.ko || exit 1
		./vmm hold & sleep 1
		perf-rvtrace record -q -a -m ,32M -o /tmp/all.data -e rvtrace/machine/ukh -- ./vmm ./vmm-guest 200 > said || exit 2
		mv /tmp/all.data .
		kill \$! && wait \$! 2> wait
		rmmod kvm && insmod kvm.ko && rmmod rvtrace && rmmod kvm"
	ok $? "$kernel, without filters: a guest runs while all is recorded"
	check "$kernel, without filters: it ran to its end" grep -q '^says 0' "$dir/share/said"
	all_equals_truth "$dir/share/all.data" --min 100000 >"$dir/equal" 2>&1
	ok_or_show $? "$kernel, without filters: the flow is the host's, as it was executed" "$dir/equal"
	check "$kernel, without filters: no complaint of the kernel" \
		test -z "$(grep -E 'BUG|WARN|no answer' "$dir/console")"
	check "$kernel, without filters: no rule of the registers was broken" no_violations
done

# traced_of_guest: how many instructions of the guest's kernel were traced
traced_of_guest()
{
	local file

	for file in "$dir"/truth/truth.*; do
		"$HOST/rvt-truth" --pc --traced --prv 1 "$file"
	done | grep -c '^0*8000[0-9a-f]\{4\}$'
}

kvm_module testing
GUEST_TIMEOUT=400 guest flight testing "topology=direct,$v0_registers" "
	insmod rvtrace.ko flight=1 && insmod kvm.ko || exit 1
	./vmm ./vmm-guest 200 > said || exit 2
	grep . /sys/bus/rvtrace/devices/encoder-*/state > states
	rmmod rvtrace"
ok $? "flight mode, without filters: a guest runs"
check "flight mode, without filters: harts trace" grep -q tracing "$dir/share/states"
check "flight mode, without filters: it ran to its end" grep -q '^says 0' "$dir/share/said"
is "flight mode, without filters: nothing of it is traced" 0 "$(traced_of_guest)"

rm -rf "$guest_bin"
done_testing
