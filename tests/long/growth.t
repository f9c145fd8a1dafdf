#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Time and memory grow with a recording, and not faster: of each thing that a recording can have many
# of, one recording has ten times as many as another. It takes at most 14 times as many instructions
# (n log n) and 13 times as much memory, without what an almost empty one takes. Instructions are
# counted in small recordings, for that is slow, and memory in recordings ten times as large.
# KINDS="forks mappings" looks at these only; GROWTH=1000: how many the smallest has.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
command -v valgrind >/dev/null || tools/setup-host valgrind >/dev/null 2>&1 || skip_all "no valgrind"
make -s build/host/rvt-grow build/host/rvt-asm build/host/perf-rvtrace || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
small=${GROWTH:-500}

# view FILE KIND: the command that reads most of it, with one thread or, for KIND NAME-jobs, three; for
# NAME-index it makes the index, which NAME-indexed uses; NAME-fleet adds up what the spool has.
view()
{
	local jobs=1

	[[ $2 != *-jobs ]] || jobs=3
	case $2 in
	ctr*) echo "script -i $1 --symfs $dir:/" ;;
	sources*) echo "decode --params $1.params --raw $1.code@0x100 --jobs $jobs $1" ;;
	kallsyms*) echo "report -i $1 --kallsyms $1.kallsyms" ;;
	symbols*) echo "report -i $1 --symfs $1.root" ;;
	*-index) echo "index -i $1 --symfs $dir:/ --jobs 1" ;;
	*-indexed) echo "report -i $1 --symfs $dir:/ --jobs 1 --time 0.0001,0.0002" ;;
	*-fleet) echo "fleet --jobs 1 -o $1.out $1" ;;
	*) echo "report --jobs $jobs -i $1 --symfs $dir:$1.jit:/" ;;
	esac
}

# instructions FILE KIND, kib FILE KIND: what the command takes
instructions()
{
	local words

	read -r -a words < <(view "$1" "$2")
	setarch -R valgrind --tool=callgrind --callgrind-out-file=/dev/null "$rv" "${words[@]}" \
		>"$dir/out" 2>"$dir/err"
	sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$dir/err"
}

kib()
{
	local words

	read -r -a words < <(view "$1" "$2")
	/usr/bin/time -f %M -o "$dir/peak" "$rv" "${words[@]}" >/dev/null 2>&1
	tail -n 1 "$dir/peak"
}

# assemble FILE: FILE.root/program
assemble()
{
	[ -e "$1.s" ] || return 0
	mkdir -p "$1.root"
	riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" "$1.s" &&
		riscv64-linux-gnu-ld -Ttext=0x80001000 -e 0 -o "$1.root/program" "$dir/program.o"
}

# sources N FILE: a dump to which N harts wrote, by turns: in slices, too, all are in each
sources()
{
	local i round

	printf 'protocol = ntrace\nmode = htm\nsrc_bits = 12\n' >"$2.params"
	for round in 1 2 3 4 5 6 7 8; do
		for ((i = 0; i < $1; i++)); do
			echo "ProgTraceSync SRC=$i SYNC=3 F-ADDR=0x80"
			echo "ProgTraceCorrelation SRC=$i EVCODE=4 CDF=0 I-CNT=1"
		done
	done >"$2.asm"
	build/host/rvt-asm "$2.params" <"$2.asm" >"$2"
	printf '\1\0%.0s' {1..256} >"$2.code"
}

# counts N FILE: of N files, as one unit of a fleet
counts()
{
	awk -v n="$1" 'BEGIN {
		print "rvtrace counts 1"
		for (i = 0; i < n; i++)
			printf "file /usr/bin/%d\nbuild-id %040x\nbases 10000 0\nran 30\nF 1000 1008 10\nB 1008 1000 9\n", i, i
	}' >"$2"
}

# grow KIND N: $dir/KIND
grow()
{
	case $1 in
	sources | counts) "$1" "$2" "$dir/$1" ;;
	*) build/host/rvt-grow "$1" "$2" "$dir/$1" && assemble "$dir/$1" ;;
	esac
}

# grows KIND: recordings, and what they cost.
grows()
{
	local kind=${1%-*} how i n cost=()

	# as many harts are in metadata at most, and SRC has 12 bits
	case $kind in
	encoders | sources) local small=40 ;;
	esac
	for i in 0 1 2 3 4 5; do
		n=$(((i % 3 == 0 ? 1 : i % 3 == 1 ? small : 10 * small) * (i < 3 ? 1 : 10)))
		grow "$kind" "$n" || return 2
		[[ $1 != *-indexed ]] || "$rv" index -i "$dir/$kind" --symfs "$dir:/" 2>"$dir/err"
		[[ $1 != *-fleet ]] || "$rv" fleet --jobs 1 -o "$dir/$kind.out" "$dir/$kind" 2>"$dir/err"
		# what threads clear for themselves differs, and is more than almost nothing
		how=$1
		[ $((i % 3)) -ne 0 ] || how=${1%-jobs}
		cost[i]=$($([ $i -lt 3 ] && echo instructions || echo kib) "$dir/$kind" "$how")
		[ -n "${cost[i]}" ] || { tail -n 5 "$dir/err"; return 2; }
		rm -rf "$dir/$kind" "$dir/$kind".*
	done
	awk -v name="$1" -v costs="${cost[*]}" 'BEGIN {
		split(costs, c, " ")
		# what is less than a fifth of the empty recording, or 8 MiB, is noise; so is an eighth of it
		time = c[3] - c[1] < c[1] / 5 ? 1 : (c[3] - c[1]) / (c[2] - c[1] > c[1] / 50 ? c[2] - c[1] : c[1] / 50)
		memory = c[6] - c[4] < 8192 ? 1 : (c[6] - c[4]) / (c[5] - c[4] > 1024 ? c[5] - c[4] : 1024)
		printf "%-13s %10d %10d instructions: %4.1f times; %6d %6d KiB: %4.1f times\n",
			name, c[2] - c[1], c[3] - c[1], time, c[5] - c[4], c[6] - c[4], memory
		exit time > 14 || memory > 13 || c[3] - c[1] < 100000
	}'
}

for kind in ${KINDS:-$(build/host/rvt-grow) sources buffers-jobs aux-jobs idle-jobs switches-jobs shared-jobs \
	switches-index switches-indexed counts-fleet}; do
	line=$(grows "$kind")
	status=$?
	echo "# $line"
	ok $status "$kind"
done
done_testing
