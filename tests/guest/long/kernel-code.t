#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Kernel code that is not there all the time: modules and BPF programs that come and go, static keys
# that are switched. What was decoded is what was executed, and it has its names.
. "$(dirname "$0")/../lib.sh"

# A kernel module for each kernel; the compiler puts its products beside the sources.
build_modules()
{
	local work=$TOP/build/guest/module-$1

	rm -rf "$work"
	mkdir -p "$work" "$guest_bin"
	cp "$TOP"/tests/guest/module/* "$work"
	"$LAB" kmake --kernel "$1" "$work" modules && cp "$work"/*.ko "$guest_bin"
}

# entered SYMBOL: how often it was; the name of a BPF program begins with a hash of it.
entered()
{
	awk -v symbol="$1" '$NF ~ "^(bpf_prog_[0-9a-f]*_)?" symbol "$" { n += $4 } END { print n + 0 }' "$work/report"
}

# writes_and_tellings: in the order of time, W for each jump of a static key that the kernel wrote, T
# for each that the recording tells.
writes_and_tellings()
{
	{
		"$HOST/perf-rvtrace" script -i "$dir/share/perf.data" --call-trace -F time,sym \
			--symfs "$dir/share:$("$LAB" path guest)" |
			awk '$2 == "arch_jump_label_transform_queue" { writes = 1 }
			     $2 == "copy_to_kernel_nofault" && writes {
				print substr($1, 1, length($1) - 4), "W"
				writes = 0
			     }'
		awk '/rvtrace:code/ { match($0, /[0-9]+\.[0-9]+:/); time = substr($0, RSTART, RLENGTH - 1) }
		     /BPF output: 0000: 04 00 00 00/ { print time, "T" }' "$dir/share/script"
	} | sort -k 1,1n -k 2,2r | awk '{ printf "%s", $2 }'
}

check "cross-compile the BPF program's loader" workload filters
for kernel in stable testing; do
	check "$kernel: the modules are built" build_modules $kernel
	# shellcheck disable=SC2016 # expands in the guest
	guest $kernel $kernel '' '
		insmod rvtrace.ko || exit 1
		insmod rvt_second.ko || exit 1
		sysctl -q -w net.core.bpf_jit_enable=1
		mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
		cat > steps <<-"END"
			set -e
			p=/sys/module/rvt_first/parameters q=/sys/module/rvt_second/parameters
			address() { grep "^$1 " /proc/modules | cut -d " " -f 6; }
			echo 11 > $q/run
			address rvt_second
			rmmod rvt_second
			insmod rvt_first.ko
			address rvt_first
			echo 23 > $p/run
			echo 1 > $p/key
			echo 29 > $p/run
			echo 0 > $p/key
			echo 31 > $p/run
			rmmod rvt_first
			filters 17 19
			insmod rvt_second.ko
			address rvt_second
			echo 37 > $q/run
			echo 1 > /sys/kernel/tracing/events/sched/sched_switch/enable
			usleep 20000 2> /dev/null || sleep 0.02
			echo 0 > /sys/kernel/tracing/events/sched/sched_switch/enable
			sleep 0.02
			rmmod rvt_second
			insmod rvt_first.ko
			echo 1 > $p/key
			echo 41 > $p/run
		END
		perf-rvtrace record -a -m 2M,32M -o perf.data -- sh steps > addresses || exit 2
		perf script -i perf.data --no-itrace > script 2> script.err || exit 3'
	ok $? "$kernel: modules, BPF programs and keys come and go while everything is recorded"
	work=$dir
	if ! grep -qa raw_tp/module_load "$dir/share/perf-rvtrace"; then
		echo "# built without clang: such code is not recorded"
		continue
	fi
	check "$kernel: what was decoded is what was executed" \
		equals_truth "$dir/share/perf.data" --min 1000000
	"$HOST/perf-rvtrace" report -i "$dir/share/perf.data" \
		--symfs "$dir/share:$("$LAB" path guest)" -s comm,dso,sym \
		>"$work/report" 2>"$work/report.err"
	is "$kernel: a module lies where the other was" \
		"$(sed -n 1p "$dir/share/addresses")" "$(sed -n 2p "$dir/share/addresses")"
	is "$kernel: no error" "" "$(grep error "$work/report.err")"
	is "$kernel: initialisation of the first module, twice" 14 "$(entered first_init)"
	is "$kernel: of the second, once while it was recorded" 7 "$(entered second_init)"
	is "$kernel: work of the first module" $((23 + 29 + 31 + 41)) "$(entered first_work)"
	is "$kernel: of it with the key" $((29 + 41)) "$(entered first_on)"
	is "$kernel: of it without" $((23 + 31)) "$(entered first_off)"
	is "$kernel: work of the second module" $((11 + 37)) "$(entered second_work)"
	is "$kernel: removal of the first module, once" 5 "$(entered first_exit)"
	is "$kernel: of the second, twice" 10 "$(entered second_exit)"
	is "$kernel: the first BPF program" 17 "$(entered gone_first)"
	is "$kernel: the second" 19 "$(entered gone_second)"
	check "$kernel: each jump of a key is told when it has been written" \
		grep -qxE '(WT){4,}' <<<"$(writes_and_tellings)"
	check "$kernel: stock perf reads the recording" grep -q rvtrace:code "$dir/share/script"
	check "$kernel: no violation" no_violations
done

recorded=$dir
# The key is switched when all has been traced, just before the kernel's code is copied.
check "what switches the key is built" "$LAB" cross-cc -O2 -Wall -shared -fPIC -o "$guest_bin/late-key.so" \
	"$TOP/tests/guest/workloads/late-key.c"
# shellcheck disable=SC2016 # expands in the guest
guest late testing '' '
	insmod rvtrace.ko && insmod rvt_first.ko || exit 1
	p=/sys/module/rvt_first/parameters
	LATE_KEY=$p/key LD_PRELOAD=./late-key.so perf-rvtrace record -o perf.data -- sh -c "echo 43 > $p/run" || exit 2'
ok $? "a key is switched between the end of tracing and the copy of the code"
check "what was decoded is what was executed before" equals_truth "$dir/share/perf.data" --min 10000
check "with the way of the code that was off at the end" sh -c "'$HOST/perf-rvtrace' script -i '$dir/share/perf.data' \
	--call-trace -F sym --symfs '$dir/share:$("$LAB" path guest)' | grep -q first_off"

# Debian's kernels do not compile BPF unless they are told to. The key is off at the end: only who
# was told that it was on can know what ran.
# shellcheck disable=SC2016 # expands in the guest
guest keys $kernel '' '
	insmod rvtrace.ko || exit 1
	insmod rvt_first.ko || exit 1
	sysctl -q -w net.core.bpf_jit_enable=0
	cat > steps <<-"END"
		set -e
		p=/sys/module/rvt_first/parameters
		echo 43 > $p/run
		echo 1 > $p/key
		echo 47 > $p/run
		echo 0 > $p/key
	END
	perf-rvtrace record -a -v -m 2M,32M -o perf.data -- sh steps 2> messages || exit 2'
ok $? "without the compiler of BPF, a key is switched while everything is recorded"
work=$dir
if grep -qa raw_tp/module_load "$dir/share/perf-rvtrace"; then
	check "without the compiler of BPF, that is said" \
		grep -q 'sysctl -w net.core.bpf_jit_enable=1' "$dir/share/messages"
	check "without the compiler of BPF, changes are told" \
		grep -q 'changes of kernel code are told by BPF' "$dir/share/messages"
	check "without the compiler of BPF: what was decoded is what was executed" \
		equals_truth "$dir/share/perf.data" --min 1000000
	"$HOST/perf-rvtrace" report -i "$dir/share/perf.data" \
		--symfs "$dir/share:$("$LAB" path guest)" -s comm,dso,sym \
		>"$work/report" 2>"$work/report.err"
	is "without the compiler of BPF: with the key" 47 "$(entered first_on)"
	is "without the compiler of BPF: without it" 43 "$(entered first_off)"
fi
dir=$recorded

# Ctrl-C ends what takes long; what was decoded until then is shown.
for command in script "report -g" "report --jobs 1" "stat --jobs 1"; do
	# shellcheck disable=SC2086 # words
	"$HOST/perf-rvtrace" $command -i "$dir/share/perf.data" \
		--symfs "$dir/share:$("$LAB" path guest)" \
		>"$dir/interrupted" 2>"$dir/interrupted.err" &
	# as soon as it catches the signal: it decodes
	until grep -qs '^SigCgt:.*[2367abef]$' "/proc/$!/status" || ! kill -0 $!; do sleep 0.02; done
	sleep 0.2
	kill -INT $!
	wait $!
	is "Ctrl-C: status of $command" 130 $?
	check "Ctrl-C: $command says how far it came" \
		grep 'interrupted after [1-9][0-9]* bytes of trace' "$dir/interrupted.err"
	check "Ctrl-C: $command shows that" test -s "$dir/interrupted"
done
done_testing
