#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Real programs on a real kernel: decoded flow equals the truth, instruction by instruction.
. "$(dirname "$0")/lib.sh"

insmod='insmod rvtrace.ko || exit 1'
# Input that is the same every time, of about the given number of lines.
words='words() { seq 1 "$1" | awk "{ print (\$1 * 7919) % 100003, \"word\" \$1 }"; }'

# tids FILE: the numbers in its "tid N" lines as options.
tids()
{
	sed -n 's/^tid \([0-9]*\)$/--tid \1/p' "$1"
}

check "cross-compile the workload" workload threads

for kernel in stable testing; do
	guest "single-$kernel" $kernel '' "$insmod
		$words
		words 2000 > input
		perf-rvtrace record -o perf.data -e rvtrace//u -- sh -c 'echo tid \$\$ > who; exec sort input' > sorted || exit 1
		sort -c sorted && rmmod rvtrace"
	ok $? "$kernel: one program is recorded, the module unloads"
	check "$kernel: one program: what was decoded is what the encoder saw" \
		equals_truth "$dir/share/perf.data" --min 1000000
	# shellcheck disable=SC2046
	check "$kernel: one program: every user instruction of it" \
		equals_truth "$dir/share/perf.data" --min 1000000 $(tids "$dir/share/who")
	check "$kernel: one program: no rule of the control interface was broken" no_violations
done

guest threads testing '' "$insmod
	perf-rvtrace record -o perf.data -e rvtrace//u -- threads > who || exit 1
	grep -q sum who"
ok $? "a program with 4 threads on 2 harts is recorded"
check "4 threads: what was decoded is what the encoder saw" \
	equals_truth "$dir/share/perf.data" --min 100000
# shellcheck disable=SC2046
check "4 threads: every user instruction of every thread" \
	equals_truth "$dir/share/perf.data" --min 100000 $(tids "$dir/share/who")
check "4 threads: no violation" no_violations

guest twice testing '' "$insmod
	$words
	words 3000 > a; words 4000 > b
	perf-rvtrace record -o perf.data -e rvtrace//u -- sh -c '
		gzip -c a > a.gz & gzip -c b > b.gz & wait' || exit 1
	gzip -t a.gz b.gz"
ok $? "two processes of the same binary at once are recorded"
check "two processes of the same binary: flow and threads equal the truth" \
	equals_truth "$dir/share/perf.data" --min 1000000
check "two processes of the same binary: no violation" no_violations

guest script testing '' "$insmod
	cat > script <<-'END'
		for i in 1 2 3 4 5; do
			n=\$(expr \$i \* 11)
			echo \$n | sed s/5/five/ | tr a-z A-Z
			(cd / && ls -d bin) | wc -c
		done
	END
	perf-rvtrace record -o perf.data -e rvtrace//u -- sh script > out || exit 1
	[ \$(wc -l < out) -eq 10 ]"
ok $? "a fork/exec shell script is recorded"
check "shell script: flow and threads equal the truth" \
	equals_truth "$dir/share/perf.data" --min 1000000
check "shell script: no violation" no_violations

# The buffers hold all of it: on a slow machine the recorder would not keep up with two busy harts.
guest system testing '' "$insmod
	$words
	words 20000 > input
	(while :; do sort input | gzip -c > /dev/null; done) &
	(while :; do ls -lR /etc > /dev/null; done) &
	sleep 1
	perf-rvtrace record -a -m ,64M -o perf.data -e rvtrace// -- sleep 1 || exit 1
	kill %1 %2; true"
ok $? "a busy system is recorded for one second, user and kernel"
check "system-wide: user and kernel flow equals the truth" \
	equals_truth "$dir/share/perf.data" --min 10000000
check "system-wide: no violation" no_violations

# by KEYS FIELDS: what was executed, by name and symbol.
by()
{
	"$HOST/perf-rvtrace" report -i "$dir/share/perf.data" --symfs "$dir/share:$("$LAB" path guest)" --sort "$1" 2>/dev/null |
		awk -v fields="$2" '/^ / { name = $5; for (i = fields + 1; i <= NF; i++) name = name " " $i
			insns[name] += $2; branches[name] += $3; entered[name] += $4 }
			END { for (name in insns) print name, insns[name], branches[name], entered[name] }' | sort
}

# Where processes are not told apart, what they executed in the kernel is added up before it is told.
by comm,sym 5 >"$dir/by-name"
by comm,pid,sym 6 >"$dir/by-process"
check "system-wide: names have what all processes so called have" cmp "$dir/by-name" "$dir/by-process"
check "system-wide: some are of the kernel" grep -q '\[k\]' "$dir/by-name"

done_testing
