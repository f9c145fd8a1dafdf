# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the driver's tests, after lib.sh: its selftests in the guest, and what they must not leave
# behind.

# What a kernel says when something went wrong; "no answer" is the driver's word for hardware that
# does not react.
complaints='\bBUG\b|\bWARNING\b|\bOops\b|KASAN: |UBSAN: |ODEBUG: |INFO: |Call Trace:|possible .*deadlock|suspicious|lockup|rcu.*stall|no answer'

# What of it is expected in a test, and not the driver's.
expected='^$'

# quiet FILE: there is no such thing in a console's log.
quiet()
{
	[ -s "$1" ] || { echo "the console said nothing at all"; return 1; }
	grep -E "$complaints" "$1" | grep -E -v "$expected" >"$dir/complaints" || return 0
	grep -F -A 30 -f "$dir/complaints" "$1"
	return 1
}

# races_of_driver: the reports of KCSAN on the console in which the driver makes an access, or calls
# what makes it (three frames). Others are the kernel's own: it has some that are known and do no
# harm, such as that of a spin lock's count for mmiowb(), which belongs to its hart.
races_of_driver()
{
	awk '{ sub(/\r$/, "") }
		/BUG: KCSAN/ { report = ""; inside = 1; frames = 3; ours = 0 }
		inside { report = report $0 "\n" }
		inside && /(read|write|race at unknown origin).* (to|of) / { frames = 0 }
		inside && frames < 3 && /\+0x[0-9a-f]+\/0x/ && !/ (print_report|kcsan_[a-z_]*|__tsan_[a-z0-9_]*)\+/ {
			if (!frames && / do_raw_spin_/)
				frames = 3
			frames++
			ours = ours || (frames <= 3 && /\[(rvtrace|riscv_ctr)\]/)
		}
		inside && /======/ { if (ours) printf "%s", report; inside = 0 }' "$dir/console"
}

# Of so many accesses KCSAN watches one. The kernel's 4000 are for faster machines.
races_options='--append kcsan.skip_watch=400'

# In a guest whose kernel has KCSAN, before anything else: Linux enables it at boot on architectures
# that offer it only. rvt_race.ko has a race that must be found.
# shellcheck disable=SC2016
races_before='mount -t debugfs none /sys/kernel/debug 2>/dev/null
	echo on > /sys/kernel/debug/kcsan && insmod rvt_race.ko && rmmod rvt_race || exit 9
	cat /sys/kernel/debug/kcsan > kcsan-before'
races_after='cat /sys/kernel/debug/kcsan > kcsan-after'

# accesses_watched before|after: so many KCSAN had looked at then
accesses_watched() { sed -n 's/^setup_watchpoints: //p' "$dir/share/kcsan-$1"; }

# no_races: KCSAN was at work from the beginning to the end, and found nothing of the driver.
no_races()
{
	local when

	for when in before after; do
		grep -qx 'enabled: 1' "$dir/share/kcsan-$when" || { echo "KCSAN is not enabled"; return 1; }
	done
	[ "$(accesses_watched after)" -gt $(($(accesses_watched before) + 1000)) ] ||
		{ echo "KCSAN watched nothing"; return 1; }
	grep -q 'BUG: KCSAN: .*race .rvt_race.' "$dir/console" || { echo "the race of rvt_race is not found"; return 1; }
	echo "$(accesses_watched after) accesses were watched"
	grep -c 'BUG: KCSAN' "$dir/console" | sed 's/$/ reports of the whole kernel/'
	races_of_driver >"$dir/races"
	[ ! -s "$dir/races" ] || { head -n 120 "$dir/races"; return 1; }
}

# Shell text for the guest. The shared folder does not outlive that the machine sleeps: it is away
# meanwhile.
# shellcheck disable=SC2016
without_share='run_without_share()
{
	cp selftest-$1 /tmp/ && cd /tmp && /lab/share umount || exit 3
	./selftest-$1 > $1.tap 2>&1
	/lab/share mount && cd /mnt/share && cp /tmp/$1.tap . || exit 4
}'

# selftests NAME KERNEL MODEL-ARGS PROGRAM...: run these programs in the guest, each of which must
# pass. $selftest_before and $selftest_after are commands in the guest; then the module must unload.
selftest_before=
selftest_after=
selftests()
{
	local name=$1 kernel=$2 args=$3 program
	shift 3

	mkdir -p "$guest_bin"
	rm -f "$guest_bin"/selftest-*
	for program; do
		cp "$TOP/build/selftests/$program" "$guest_bin/selftest-$program" || return
	done
	guest "$name" "$kernel" "$args" "$selftest_before
		$without_share
		insmod rvtrace.ko || exit 1
		for program in $*; do
			case \$program in
			suspend) run_without_share \$program ;;
			*) selftest-\$program > \$program.tap 2>&1 ;;
			esac
		done
		rmmod rvtrace || exit 2
		$selftest_after"
	ok $? "$name: the selftests ran, the module unloads"
	for program; do
		check "$name: $program" tap_passed "$dir/share/$program.tap"
	done
	check "$name: no complaint of the kernel" quiet "$dir/console"
	check "$name: no rule of the control interface was broken" no_violations
}

# helper_modules KERNEL NAME...: the guest gets these modules of tests/guest/module.
helper_modules()
{
	local kernel=$1 work=$TOP/build/guest/module-$test_name-$1 name

	shift
	rm -rf "$work"
	mkdir -p "$work" "$guest_bin"
	cp "$TOP"/tests/guest/module/* "$work"
	"$LAB" kmake --kernel "$kernel" "$work" modules || return
	for name; do
		cp "$work/$name.ko" "$guest_bin" || return
	done
}

# removals NAME KERNEL MODEL-ARGS COMPONENT...: each is unbound while all harts are recorded, and bound
# again, three times; the recording goes on as far as it can, and the next one equals the truth.
removals()
{
	local name=$1 kernel=$2 args=$3
	shift 3

	check "$name: the module that unbinds is built" helper_modules "$kernel" rvt_unbind
	# shellcheck disable=SC2016 # for the guest
	guest "$name" "$kernel" "$args" '
		insmod rvtrace.ko && insmod rvt_unbind.ko || exit 1
		parameters=/sys/module/rvt_unbind/parameters devices=/sys/bus/rvtrace/devices
		ls $devices > before
		encoders=$(grep -c encoder before)
		for component in '"$*"'; do
			device=$(basename $(dirname $(readlink -f $devices/$component)))
			perf-rvtrace record -q -a -o $component.data -- sleep 1000 & recorder=$!
			until grep -q tracing $devices/encoder-*/state; do sleep 0.2; done
			for round in 1 2 3; do
				sleep 0.5
				echo $device > $parameters/unbind || exit 2
				[ ! -e $devices/$component ] || exit 3
				# What feeds it goes, too: without a funnel, the encoder of one hart.
				[ $(ls $devices | grep -c encoder) -lt $encoders ] || exit 4
				sleep 0.2
				echo $device > $parameters/bind || exit 5
				for i in $(seq 60); do
					ls $devices | cmp -s - before && break
					sleep 1
				done
				ls $devices | cmp - before || exit 6
			done
			kill -INT $recorder; wait $recorder
			grep -q tracing $devices/*/state && exit 7
			# one buffer: what harts that share a sink wrote into several is not in order
			perf-rvtrace record -q -C 1 -o again.data -- taskset 2 ls / > /dev/null || exit 8
		done
		# An event that is open stays so without its encoder.
		perf-rvtrace record -q -a -o last.data -- sleep 1000 & recorder=$!
		until grep -q tracing $devices/encoder-*/state; do sleep 0.2; done
		echo $device > $parameters/unbind
		sleep 0.5
		kill -INT $recorder; wait $recorder
		rmmod rvtrace rvt_unbind'
	ok $? "$name: components go while they are recorded, and come back"
	check "$name: what is recorded then equals the truth" equals_truth "$dir/share/again.data" --lossy --min 1000
	check "$name: no complaint of the kernel" quiet "$dir/console"
	check "$name: no rule of the control interface was broken" no_violations
}

check "the selftests compile for the guest" make -s -C "$TOP" selftests
