# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
#
# What the tests of `fleet` share: programs of several builds in $dir, recordings of them.

# elf NAME RAW: $dir/NAME/program, with this code from 0x1000 on, and a build id that NAME makes
elf()
{
	mkdir -p "$dir/$1" || return
	printf '.globl begin\nbegin: .incbin "%s"\n.size begin, . - begin\n.type begin, @function\n.section .rodata\n.asciz "%s"\n' \
		"$2" "$1" | riscv64-linux-gnu-as -march=rv64gc -o "$dir/program.o" - &&
		riscv64-linux-gnu-ld --build-id -Ttext=0x80001000 -e begin -o "$dir/$1/program" "$dir/program.o"
}

# make_programs: old, new and gone
make_programs()
{
	local name

	build/host/rvt-recording "$dir/raw.data" /program 0x1000 none 10 || return
	for name in old new gone; do
		elf $name "$dir/raw.data.program" || return
	done
	rm "$dir"/raw.data*
}

# build_id NAME
build_id()
{
	readelf -n "$dir/$1/program" | sed -n 's/.*Build ID: //p'
}

# record FILE NAME N STEPS SHIFT: $dir/FILE, of NAME's program, SHIFT bytes higher, run as commN
record()
{
	local offset

	offset=$(readelf -SW "$dir/$2/program" | sed -n 's/.* \.text *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p')
	"$TOP/build/host/rvt-recording" "$dir/$1" "$dir/$2/program" "$offset" "comm$3" "$4" shift="$5" \
		build-id="$(build_id "$2")" pieces=4 && rm "$dir/$1.program"
}

# make_store STORE NAME...: as perf buildid-cache has it
make_store()
{
	local name id

	for name in "${@:2}"; do
		id=$(build_id "$name")
		mkdir -p "$1/usr/bin/$name/$id" "$1/.build-id/${id:0:2}" &&
			cp "$dir/$name/program" "$1/usr/bin/$name/$id/elf" &&
			ln -sf "../../usr/bin/$name/$id" "$1/.build-id/${id:0:2}/${id:2}" || return
	done
}

# mpirun, also for root, on a machine with fewer processors
mpi()
{
	local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	local -x OMPI_MCA_rmaps_base_oversubscribe=1

	mpirun -np "$@"
}

# run_mpi RANKS OUTPUT OPTIONS...
run_mpi()
{
	mpi "$1" "$TOP/build/host/perf-rvtrace-mpi" fleet -o "${@:2}" >out 2>err
}
