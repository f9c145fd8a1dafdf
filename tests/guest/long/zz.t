#!/bin/bash
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"
# The hart sleeps and wakes while another prepares its sink, which takes a while.
hook_options=--deep-idle
# shellcheck disable=SC2016 # for the guest
guest restless testing idle-loss=on,delay=1000000 'insmod rvtrace.ko || exit 1
	(while :; do taskset 2 sleep 0.001; done) & restless=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		taskset 1 perf-rvtrace record -q -C 1 -o data -e rvtrace//u -- true || exit 2
		# the components are switched off a little later
		until ! grep -qv inactive /sys/bus/rvtrace/devices/*/state; do sleep 0.05; done
	done
	kill $restless
	rmmod rvtrace'
ok $? "restless: recorded twenty times"
check "restless: no rule of the control interface was broken" no_violations
check "restless: no complaint of the kernel" quiet "$dir/console"
done_testing
