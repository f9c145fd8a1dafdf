# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For guest tests: boot a kernel with the modelled trace hardware, run a script in it, compare what
# was recorded with what the emulator executed. A test sources this file; it prints TAP.

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
LAB=$TOP/tools/lab/lab
HOST=$TOP/build/host
# Programs for the guest; tests run side by side, so each has its own.
guest_bin=$TOP/build/guest/bin-$test_name
mkdir -p "$TOP/build/guest"

# More options of the devicetree hook and of `lab run` for guest(), as strings.
hook_options=
lab_options=
# Empty: the truth is not kept. Many harts at work for long would make gigabytes of it.
keep_truth=yes
# Another rvtrace.ko than that of the tree
guest_module=

# guest NAME KERNEL MODEL-ARGS SCRIPT: run SCRIPT in the guest. Files that it leaves in its working
# directory, the truth, the model's report of violations and the kernel's console are then in $dir.
guest()
{
	local name=$1 kernel=$2 model=$3 script=$4 status

	dir=$TOP/build/guest/$test_name-$name
	rm -rf "$dir"
	mkdir -p "$dir/share" "$dir/truth"
	cp "$TOP/build/riscv64/perf-rvtrace" "${guest_module:-$TOP/build/driver/$kernel/rvtrace.ko}" "$dir/share/"
	[ ! -d "$guest_bin" ] || cp "$guest_bin"/* "$dir/share/"
	cat >"$dir/share/run" <<-END
		cd /mnt/share || exit 1
		awk '/^processor/ { cpu = \$3 } /^hart[^i]*:/ { print \$3, cpu }' /proc/cpuinfo > harts
		export PATH=/mnt/share:\$PATH
		# recordings are decoded here, without the guest's cache
		export PERF_RVTRACE_EMBED=yes
		$script
	END
	# shellcheck disable=SC2086 # these are words
	"$LAB" run --kernel "$kernel" --smp 2 --mem 1024 --extra-mem 16 --share "$dir/share" \
		--log "$dir/console" \
		--plugin "$TOP/build/model/rvtrace-model.so,${keep_truth:+truth=$dir/truth,}violations=$dir/violations${model:+,$model}" \
		--dtb-hook "$TOP/tools/model/dtb-hook $hook_options" \
		--timeout "${GUEST_TIMEOUT:-600}" $lab_options -- \
		"cp run /tmp && exec sh /tmp/run" >"$dir/output" 2>&1
	status=$?
	truth_by_cpu
	[ $status -eq 0 ] || guest_failed $status
	return $status
}

# guest_failed STATUS: why the guest's script in $dir/share ended with STATUS, as comments: the
# lines of it that do, what it printed, and the ends of the texts that it wrote last, for that is
# where a command's message goes that the script keeps in a file.
guest_failed()
{
	local status=$1 file count=0

	{
		if [ "$status" -eq 124 ]; then
			echo "the guest did not end in time"
		else
			echo "the guest's script ended with exit status $status:"
			grep -nE "exit $status([^0-9]|\$)" "$dir/share/run"
		fi
		tail -n 40 "$dir/output"
		while read -r file && [ $count -lt 3 ]; do
			file=$dir/share/$file
			[ -f "$file" ] && [ "$file" != "$dir/share/run" ] && grep -qI . "$file" || continue
			count=$((count + 1))
			echo "the end of $file:"
			tail -n 8 "$file"
		done < <(ls -t "$dir/share")
	} | diag
}

# truth_by_cpu: the model names the truth by hart; which of them is Linux' CPU 0 is a race at boot.
truth_by_cpu()
{
	local hart cpu file

	[ -s "$dir/share/harts" ] || return 0
	mv "$dir/truth" "$dir/truth-by-hart" && mkdir "$dir/truth" || return 1
	while read -r hart cpu; do
		for file in truth accesses; do
			[ ! -e "$dir/truth-by-hart/$file.$hart" ] ||
				mv "$dir/truth-by-hart/$file.$hart" "$dir/truth/$file.$cpu"
		done
	done <"$dir/share/harts"
	rmdir "$dir/truth-by-hart"
}

# hart_of CPU: prints which hart is that CPU of Linux. The model's capture files have its number.
hart_of() { awk -v cpu="$1" '$2 == cpu { print $1 }' "$dir/share/harts"; }

# workload NAME [cc options]: cross-compile tests/guest/workloads/NAME.c for the guest.
workload()
{
	local name=$1

	shift
	mkdir -p "$guest_bin"
	"$LAB" cross-cc -O2 -Wall -Wextra -Werror "$@" -o "$guest_bin/$name" \
		"$TOP/tests/guest/workloads/$name.c" -lpthread
}

# raw_pc FILE [script options]: one line per retired instruction.
raw_pc()
{
	local file=$1

	shift
	"$HOST/perf-rvtrace" script -i "$file" --symfs "$dir/share:$("$LAB" path guest)" \
		--raw-pc "$@"
}

# equals_truth FILE [rvt-truth-diff options]: is the decoded flow what was executed?
equals_truth()
{
	local file=$1
	shift
	set -o pipefail
	raw_pc "$file" | "$HOST/rvt-truth-diff" "$@" "$dir/truth"
}

# nothing_lost FILE: all trace in the recording is decoded
nothing_lost() { raw_pc "$1" --strict >/dev/null; }

# in_order FILE...: what the recordings tell of each hart is all that it executed, in that order. The
# pieces of a sink that harts share lie in the buffers of all, and equals_truth looks at one buffer
# after the other.
in_order()
{
	local file hart

	for file; do
		"$HOST/perf-rvtrace" script -f -i "$dir/share/$file.data" --symfs "$dir/share:$("$LAB" path guest)" \
			--insn-trace=raw --strict -F cpu,ip || return
	done >"$dir/told"
	for hart in "$dir"/truth/truth.*; do
		awk -v hart="[00${hart##*.}]" '$1 == hart { print $2 }' "$dir/told" | sed 's/^0*//' >"$dir/decoded"
		"$HOST/rvt-truth" --pc --traced "$hart" | sed 's/^0*//' >"$dir/executed"
		[ "$(wc -l <"$dir/executed")" -gt 10000 ] && cmp "$dir/decoded" "$dir/executed" || return
	done
	rm "$dir/told" "$dir/decoded" "$dir/executed"
}

# no_violations: the driver kept to the rules of the control interface.
no_violations()
{
	[ -e "$dir/violations" ] || { echo "the model wrote no report"; return 1; }
	[ ! -s "$dir/violations" ] || { head -n 20 "$dir/violations"; return 1; }
}
