# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests of flight mode, after lib.sh: guests whose kernel panics, and what `perf rvtrace crash`
# says of them.

# skip_rest REASON: what follows needs something that is not here.
skip_rest()
{
	skip "dumps of crashed machines" "$1"
	done_testing
	exit 0
}

# crash NAME KERNEL MODEL-ARGS PARAMETERS COMMANDS: a guest in flight mode runs these commands and
# panics. Its memory is in $crash_core then, the symbols of all modules in $dir/share/kallsyms.
crash()
{
	local name=$1 kernel=$2 model=$3 parameters=$4 commands=$5 sockets

	sockets=$(mktemp -d)
	dir=$TOP/build/guest/$test_name-$name
	crash_core=$TOP/build/guest/$test_name-$name.vmcore
	rm -f "$crash_core"
	"$TOP/tests/guest/dump-memory" "$sockets/qmp" "$crash_core" >"$sockets/log" 2>&1 &
	lab_options="--qemu-arg -action --qemu-arg shutdown=pause
		--qemu-arg -qmp --qemu-arg unix:$sockets/qmp,server=on,wait=off"
	guest "$name" "$kernel" "$model" "insmod rvtrace.ko flight=1 $parameters || exit 1
		cat /proc/kallsyms > kallsyms
		grep -L tracing /sys/bus/rvtrace/devices/encoder-*/state > untraced
		$commands
		sync
		echo c > /proc/sysrq-trigger
		exit 2" 2>/dev/null
	is "$name: the kernel panics" 123 $?
	wait $!
	ok_or_show $? "$name: the emulator writes a dump" "$sockets/log"
	rm -rf "$sockets"
	lab_options=
	is "$name: each hart traced" "" "$(cat "$dir/share/untraced")"
	check "$name: all components are disabled" no_violations
}

# flow_is_the_end CPU MIN: what was decoded of the hart, MIN instructions or more, is the end of what
# the model says that its encoder traced, instruction by instruction.
flow_is_the_end()
{
	local cpu=$1 min=$2 n

	awk -v cpu="$cpu" '$1 == cpu { print $4 }' "$dir/raw" >"$dir/flow.$cpu"
	n=$(wc -l <"$dir/flow.$cpu")
	[ "$n" -ge "$min" ] || { echo "only $n instructions were decoded"; return 1; }
	"$HOST/rvt-truth" --pc --traced "$dir/truth/truth.$cpu" | tail -n "$n" | cmp - "$dir/flow.$cpu"
}

# crash_is_right NAME MIN [CPU...]: the flow of these harts (0 and 1) is that of the model.
crash_is_right()
{
	local name=$1 min=$2 cpu
	shift 2

	"$HOST/perf-rvtrace" crash --last 0 --raw-pc "$crash_core" >"$dir/raw" 2>"$dir/errors"
	is "$name: nothing is lost" 0 $?
	is "$name: nothing is wrong" "" "$(cat "$dir/errors")"
	for cpu in "${@:-0 1}"; do
		check "$name: the flow of CPU $cpu up to the panic equals the truth" flow_is_the_end "$cpu" "$min"
	done
}

# head_of CPU: what the command says of it.
head_of()
{
	"$HOST/perf-rvtrace" crash --last 1 -C "$1" "$crash_core" | grep "^# CPU"
}
