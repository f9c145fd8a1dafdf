#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Whose instructions they are: forks, threads, reused numbers, other users and namespaces,
# migration, objects that replace each other, code of a JIT compiler and of BPF. Each case calls a
# function a number of times that is known here.
. "$(dirname "$0")/../lib.sh"

check "cross-compile the workload" workload processes -ldl
for n in 1 2; do
	"$LAB" cross-cc -O2 -shared -fPIC -DSTEPS=$n -o "$guest_bin/plugin-$n.so" \
		"$TOP/tests/guest/workloads/plugin.c"
done
GUEST_TIMEOUT=900
# shellcheck disable=SC2016 # expands in the guest
guest main testing '' '
	insmod rvtrace.ko || exit 1
	sysctl -q -w net.core.bpf_jit_enable=1 kernel.unprivileged_bpf_disabled=0 || exit 2
	perf-rvtrace record -a -o perf.data -- processes ./plugin-1.so ./plugin-2.so > out || exit 3
	perf script -i perf.data --no-itrace --show-bpf-events 2> /dev/null | grep -c "KSYMBOL.*name bpf_prog_[0-9a-f]*_maps" > snapshot
	true'
ok $? "the workload is recorded, with the system"
check "what was decoded is what was executed" equals_truth "$dir/share/perf.data" --min 1000000

rv=$HOST/perf-rvtrace
work=$dir/work
mkdir -p "$work"
view()
{
	"$rv" "$1" -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" "${@:2}"
}
view report -s comm,sym >"$work/report" 2>"$work/report.err"
view report -s comm,pid,tid,sym >"$work/ids" 2>/dev/null
view report -s comm,dso,sym >"$work/dsos" 2>/dev/null

# calls COMM SYMBOL: how often it was entered in threads of this name.
calls()
{
	awk -v comm="$1" -v symbol="$2" \
		'$5 == comm && $NF == symbol { n += $4 } END { print n + 0 }' "$work/report"
}

is "fork without exec" 37 "$(calls forked in_child)"
is "functions of the vdso" 83 "$(calls timed __vdso_clock_gettime)"
is "a thread" 31 "$(calls thread-a in_thread)"
is "another thread" 31 "$(calls thread-b in_thread)"
is "both belong to the process" 1 \
	"$(awk '$5 ~ /^thread-/ && $NF == "in_thread" { print $6 }' "$work/ids" | sort -u | wc -l)"
is "and have numbers of their own" 2 \
	"$(awk '$5 ~ /^thread-/ && $NF == "in_thread" { print $7 }' "$work/ids" | sort -u | wc -l)"
is "first process of a number" 41 "$(calls first in_first_life)"
is "second process of the same number" 43 "$(calls second in_second_life)"
is "it is the same number" \
	1 "$(awk '$NF ~ /^in_(first|second)_life$/ { print $6 }' "$work/ids" | sort -u | wc -l)"
is "setuid" 1 "$(calls nobody as_nobody)"
is "a process that goes from hart to hart" 58 "$(calls processes on_other_hart)"
is "a process in a namespace of its own" 53 "$(calls inner in_namespace)"
is "the second object lies where the first was" "plugins same" "$(grep plugins "$dir/share/out")"
is "calls into the first object" 71 "$(calls processes first_plugin)"
is "calls into the second object" 73 "$(calls processes second_plugin)"
is "code of a JIT compiler" $((61 * 2)) "$(awk '$NF == "jit_first" { print $2 }' "$work/dsos")"
is "other code at the same address later" \
	$((67 * 3)) "$(awk '$NF == "jit_second" { print $2 }' "$work/dsos")"
check "a BPF program by its name" grep -q '\[k\] bpf_prog_[0-9a-f]*_counted' "$work/dsos"
check "kernel threads" grep -q '  *kworker[^ ]*  *\[kernel.kallsyms\]' "$work/dsos"
check "idle" grep -q '  *swapper[^ ]*  *\[kernel.kallsyms\]' "$work/dsos"
check "nothing ran in a thread without a name" sh -c "! grep -q '  :[0-9]' '$work/dsos'"
if grep -qa iter/task_vma "$dir/share/perf-rvtrace"; then
	[ "$(cat "$dir/share/snapshot")" -gt 0 ]
	ok $? "what ran before was found by the BPF iterators"
else
	ok 0 "what ran before was found by the BPF iterators # SKIP built without clang"
fi
# In the container, the trace's numbers are not the recorder's.
guest inner testing '' '
	insmod rvtrace.ko || exit 1
	sysctl -q -w net.core.bpf_jit_enable=1 kernel.unprivileged_bpf_disabled=0
	unshare --pid --fork --mount-proc perf-rvtrace record -a -o inner.data -- sh -c "exec processes ./plugin-1.so ./plugin-2.so" > /dev/null || exit 2'
ok $? "the workload is recorded in a container"
"$rv" report -i "$dir/share/inner.data" --symfs "$dir/share:$("$LAB" path guest)" \
	-s comm,sym >"$work/report" 2>/dev/null
is "recorded in a container: fork" 37 "$(calls forked in_child)"

# The trace does not say whose it is: context switches do. In the first recording the tasks share
# one event, which the kernel hands from one to the other. Whole cpus: by BPF, also without its
# compiler, and by perf.
switches()
{
	perf script -i "$1" --no-itrace --show-switch-events 2>/dev/null | awk '
		/rvtrace:switch:/ { bpf++ } /PERF_RECORD_SWITCH/ { perf++ } END { print "bpf " (bpf > 0) " perf " (perf > 0) }'
}
for mode in "task testing -e rvtrace/context=0/u" "bpf testing -a -e rvtrace/context=0/" \
	"jit stable -a -e rvtrace/context=0/" "perf testing -a --switches=perf -e rvtrace/context=0/"; do
	read -r name kernel options <<<"$mode"
	guest "switches-$name" "$kernel" '' "
		insmod rvtrace.ko || exit 1
		sysctl -q -w net.core.bpf_jit_enable=$([ "$name" != jit ]; echo $?)
		seq 1 3000 > a; seq 1 4000 > b
		perf-rvtrace record $options -m 2M,16M -o perf.data -- sh -c 'gzip -c a > a.gz & gzip -c b > b.gz & wait' || exit 2
		$(declare -f switches)
		switches perf.data > switches"
	ok $? "recorded without Ownership: $name"
	check "without Ownership, $name: what was decoded is what was executed" \
		equals_truth "$dir/share/perf.data" --min 1000000
	case $name in
	bpf | jit) is "without Ownership, $name: who told the switches" "bpf 1 perf 0" "$(cat "$dir/share/switches")" ;;
	*) is "without Ownership, $name: who told the switches" "bpf 0 perf 1" "$(cat "$dir/share/switches")" ;;
	esac
done

# Nor when it was: the driver names who was traced where it hands trace over later.
guest turns testing '' '
	insmod rvtrace.ko || exit 1
	mkfifo line
	taskset 1 sh -c "while echo; do :; done" > line & a=$!
	taskset 1 sh -c "while read -r line; do :; done" < line & b=$!
	sleep 1
	perf-rvtrace record -p $a,$b -m 2M,16M -e rvtrace/context=0,timestamp=0/u -o perf.data -- sleep 1 || exit 2
	kill $a $b'
ok $? "recorded without Ownership and time stamps: two that take turns on a hart"
check "without Ownership and time stamps: what was decoded is what was executed" \
	equals_truth "$dir/share/perf.data" --min 100000

# Only those of the command and its children, while others pass lines through a pipe.
guest chosen testing '' '
	insmod rvtrace.ko || exit 1
	sysctl -q -w net.core.bpf_jit_enable=1 kernel.unprivileged_bpf_disabled=0 || exit 2
	(taskset 1 sh -c "while echo; do :; done" | taskset 1 sh -c "while read -r line; do :; done") &
	for mode in bpf command; do
		perf-rvtrace record -a -m 2M,16M -e rvtrace/context=0/u --switches=$mode -o $mode.data -- \
			processes ./plugin-1.so ./plugin-2.so > /dev/null || exit 3
		perf script -i $mode.data --no-itrace > $mode 2> /dev/null
	done
	kill $!
	sysctl -q -w kernel.perf_event_paranoid=-1
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		perf-rvtrace record -a -e rvtrace/context=0/u -o /tmp/perf.data true 2> unprivileged || exit 4
	perf script -f -i /tmp/perf.data --no-itrace --show-switch-events 2> /dev/null | grep -c PERF_RECORD_SWITCH > instead'
ok $? "recorded with the switches of one command"
"$rv" report -i "$dir/share/command.data" --symfs "$dir/share:$("$LAB" path guest)" \
	-s comm,sym >"$work/report" 2>/dev/null
is "chosen switches: fork" 37 "$(calls forked in_child)"
is "chosen switches: a thread" 31 "$(calls thread-a in_thread)"
is "chosen switches: first process of a number" 41 "$(calls first in_first_life)"
is "chosen switches: second process of the same number" 43 "$(calls second in_second_life)"
is "chosen switches: a process that goes from hart to hart" 58 "$(calls processes on_other_hart)"
is "chosen switches: a process in a namespace of its own" 53 "$(calls inner in_namespace)"
# in_turns MODE: switches from one shell to another in a recording, of which MODE is what perf shows.
in_turns()
{
	awk '
		/rvtrace:switch:/ { comm = $1 }
		/BPF output: 0000:/ {
			from[++n] = $4 $5 $6 $7
			by_shell[n] = comm == "sh"
			if (comm == "sh")
				shell[from[n]]
		}
		/^ *0008:/ { to[n] = $2 $3 $4 $5 }
		END {
			for (i = 1; i <= n; i++)
				turns += by_shell[i] && to[i] in shell
			print turns + 0
		}' "$dir/share/$1"
}

# Who runs when recording begins is told once for each of the two cpus.
check "all switches: those of others are recorded" [ "$(in_turns bpf)" -gt 10 ]
check "chosen switches: those of others are not recorded" [ "$(in_turns command)" -le 2 ]
check "without rights for BPF, that is said" \
	grep -q 'no BPF program tells the context switches: that needs root' \
	"$dir/share/unprivileged"
check "without rights for BPF, perf's switches are there" [ "$(cat "$dir/share/instead")" -gt 0 ]

done_testing
