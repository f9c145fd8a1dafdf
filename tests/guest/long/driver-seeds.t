#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Forty kinds of hardware, twenty of them others each day, each as bad as the specification and buses
# let it be. A seed says what it has, what it refuses, and when it answers. Selftests pass; a
# recording equals the truth, or each loss is told; the kernel is silent. SEEDS="7 12" runs these
# only.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../driver-lib.sh"
today=$(($(date +%s) / 86400 * 20))
SEEDS=${SEEDS:-$(seq 20) $(seq $today $((today + 19)))}

# draw N: sets $drawn to one of 0 ... N-1, which the seed and what was drawn before decide.
draw()
{
	local z

	# SplitMix64, without its top bit
	state=$((state + 0x1e3779b97f4a7c15))
	z=$(((state ^ (state >> 30 & 0x3ffffffff)) * 0x3f58476d1ce4e5b9))
	z=$(((z ^ (z >> 27 & 0x1fffffffff)) * 0x14d049bb133111eb))
	drawn=$(((z >> 33 & 0x3fffffff) % $1))
}

# one_of WORD...: sets $drawn to one of the words.
one_of()
{
	draw $#
	shift "$drawn"
	drawn=$1
}

# some_of WORD...: sets $drawn to some of the words, joined by +, and to one at least.
some_of()
{
	local all=("$@") word some=

	for word in "${all[@]}"; do
		draw 2
		[ "$drawn" = 0 ] || some+="${some:++}$word"
	done
	one_of "${all[@]}"
	drawn=${some:-$drawn}
}

# half_of BITS: sets $drawn to about half of these bits.
half_of()
{
	local high

	draw 65536
	high=$drawn
	draw 65536
	drawn=$((((high << 16) | drawn) & $1))
}

# add NAME=VALUE...
add() { args+=",$1"; }

# draw_registers: what the components refuse, and when they answer
draw_registers()
{
	one_of "late-reads=$reads" "delay=$((reads * 500))"
	add "$drawn"
	one_of 0 64 256 1024; add "wp-lag=$drawn"
	some_of 3 6; add "modes=$drawn"; modes=$drawn
	some_of 1 2 3; add "sync-modes=$drawn"
	draw 5; add "filters=$drawn"; filters=$drawn
	draw 5; add "comparators=$drawn"
	# A sink that harts share needs SRC.
	half_of 0x7ff; features=$drawn
	[ "$shared" = yes ] || half_of 0xffff0000
	[ "$shared" = no ] || drawn=0xffff0000
	add "warl-features=$((features | drawn))"
	# What of Control no encoder can do without
	half_of 0xf0ff00; control=$((drawn | 0xff0f007f)); add "warl-control=$control"
	half_of 0x1ffff; warl_filter=$drawn
	draw 4; [ "$drawn" = 0 ] || warl_filter=$((warl_filter | 3))
	add "warl-filter=$warl_filter"
	half_of 0xffffffff; add "warl-comparator=$drawn"
	half_of 0xffffffff; add "warl-triggers=$drawn"
	half_of 0xffff; add "warl-funnel=$drawn"
	some_of none external system core; add "ts-modes=$drawn"; stamps=$drawn
	one_of 40 48 63; add "ts-width=$drawn"
}

# draw_sinks: their memories, and how they are reached
draw_sinks()
{
	one_of 4 4 8 16 64
	add "width=$drawn"
	hook_options+=" --width $drawn"
	draw 6
	case $drawn in
	0) add sram=65536; draw 2; [ "$drawn" = 0 ] || add live-read=off ;;
	1)
		add coherent=off
		hook_options+=" --noncoherent"
		lab_options+=" --cpu rv64,svpbmt=off"
		;;
	2)
		case $topology in
		direct | funnel)
			add carveout=0x100000
			hook_options+=" --carveout 0x100000"
			;;
		esac
		;;
	esac
}

# draw_switch: what is off until somebody records
draw_switch()
{
	switch=:
	draw 6
	case $drawn in
	0) hook_options+=' --clock' ;;
	1) add clock-gate=on; hook_options+=' --gated-clock'; switch='insmod rvt_power.ko' ;;
	2) add power=on; hook_options+=' --power'; switch='insmod rvt_power.ko' ;;
	esac
}

# draw_hardware SEED: sets $args, $hook_options, $lab_options, $event, $programs, and what the
# recording is.
draw_hardware()
{
	state=$1
	one_of direct direct funnel tree both; topology=$drawn
	shared=no
	[ "$topology" = direct ] || shared=yes
	draw 60; reads=$((drawn + 2))
	args="seed=$1,topology=$topology,user-io=on,holes=on,late-data=on"
	hook_options="--topology $topology"
	lab_options='--append iomem=relaxed'
	draw_registers
	draw_sinks
	[ "$shared" = yes ] || add own-hart=on
	draw 2; [ "$drawn" = 0 ] || add stall=on
	lossy=
	drops=
	draw 4
	case $topology,$drawn in
	funnel,0 | tree,0) drops=yes; add funnel-drops=500 ;;
	esac
	draw 5; [ "$drawn" != 0 ] || { lossy=yes; add fifo=2048,drain=1000; }
	draw 4; [ "$drawn" != 0 ] || { add idle-loss=on; hook_options+=' --deep-idle'; }
	draw_switch
	draw 2; [ "$drawn" = 0 ] || hook_options+=' --no-backlinks'
	etrace=
	draw 3
	if [ "$drawn" = 0 ]; then
		etrace=yes
		add "etrace=$TOP/tools/model/params/etrace-2.0,formats=etrace"
		one_of registers properties text
		hook_options+=" --params $TOP/tools/model/params/etrace-2.0 --discovery $drawn"
	fi
	one_of testing testing stable; kernel=$drawn
	one_of basic modes filters life copies switches safety; programs=$drawn
	[ "$shared" = no ] || { one_of "$programs" shared; programs=$drawn; }
	# These want nothing lost.
	case $programs,$lossy in
	life,yes | shared,yes | switches,yes) programs=basic ;;
	esac
	# "switches" needs thread ids and times, "copies" sinks that need none.
	[ $((control & 0x200)) != 0 ] && [ "$stamps" != none ] || [ "$programs" != switches ] || programs=basic
	case $programs,$args in
	copies,*coherent=off*) programs=basic ;;
	esac
	# Branch trace, and trace that can only be synchronised often, are too much for their buffers.
	[ "$modes" != 3 ] && [ $((control & 0x800000)) != 0 ] || case $programs in
	basic | life | shared) programs=filters ;;
	esac
	# The others read messages, of N-Trace, and miss what funnels lose.
	[ "$etrace$drops" = "" ] || programs=safety
	event=rvtrace//u
	# Without a filter by privilege, firmware is recorded, too, whose code nobody has; and
	# selftests ask for what such hardware refuses, but for those of filters.
	if [ "$filters" = 0 ] || [ $((warl_filter & 3)) != 3 ]; then
		event=rvtrace//ukh
		lossy=yes
		programs=filters
	fi
}

# as_executed: the recording is what was executed; where the encoder may lose, with gaps. What a
# funnel loses nobody can tell for sure: messages have no numbers. But it does not go unnoticed.
as_executed()
{
	if [ "$drops" ]; then
		! raw_pc "$dir/share/one.data" --strict 2>"$dir/told" >/dev/null || return
		grep '[1-9].* instruction trace errors' "$dir/told"
		return
	fi
	if [ "$lossy" ]; then
		equals_truth "$dir/share/one.data" --lossy --min 1000
		return
	fi
	if raw_pc "$dir/share/one.data" --strict 2>"$dir/told" >/dev/null; then
		equals_truth "$dir/share/one.data"
		return
	fi
	# Branch trace, with a synchronisation at every turn, is more than the buffer holds.
	cat "$dir/told"
	grep -q 'lost while recording: trace' "$dir/told" && ! grep -q 'could not be followed' "$dir/told" &&
		equals_truth "$dir/share/one.data" --lossy --min 1000
}

for kernel in stable testing; do
	check "$kernel: the module of power and clock is built" helper_modules $kernel rvt_power
done
for seed in $SEEDS; do
	draw_hardware "$seed"
	name="seed $seed"
	diag <<<"$name: $kernel, $args $hook_options $lab_options: $programs, $event"
	keep_truth=yes
	cp "$TOP/build/guest/module-$test_name-$kernel/rvt_power.ko" "$guest_bin"
	guest recorded "$kernel" "$args" "$switch && insmod rvtrace.ko || exit 1
		perf-rvtrace record -q -m ,16M -o one.data -e $event -- \
			taskset 2 sh -c 'seq 1 200 | sort -R | gzip -c > /dev/null' || exit 2
		rmmod rvtrace"
	ok $? "$name: a program is recorded"
	check "$name: it is what was executed" as_executed
	check "$name: recorded: no rule of the control interface was broken" no_violations
	check "$name: recorded: no complaint of the kernel" quiet "$dir/console"
	keep_truth=
	selftest_before="export RVTRACE_TRIGGER_REGISTER=0xe00; $switch || exit 5"
	# shellcheck disable=SC2086 # names
	selftests "$name" "$kernel" "$args" $programs
done
rm -rf "$guest_bin"
done_testing
