#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The series that upstream/kernel/make-series makes: checkpatch accepts it, it applies, and the kernel's
# tree builds with it, built in and as modules.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
lab=$TOP/tools/lab/lab
work=$TOP/build/kernel-series
"$lab" path builder >/dev/null 2>&1 || skip_all "the lab has no root for kernel builds: tools/lab/lab setup --only builder"
mkdir -p "$work"
# Not of riscv, or not compiled here; programs that run here take headers of this machine.
left_out=('--exclude=*/drivers/gpu/*.[chS]' '--exclude=*/drivers/media/*.[chS]' '--exclude=*/drivers/staging/*.[chS]'
	'--exclude=*/drivers/net/*.[chS]' '--exclude=*/arch/[a-qs-wyz]*/*.[chS]' '--exclude=*/arch/x86/[!i]*/*.[chS]'
	'--exclude=*/arch/*.dts*' '--exclude=*/sound/*/*.[chS]')

# What checkpatch asks for that does not hold: the last patch has MAINTAINERS; kzalloc_obj() is newer
# than kernels that the same sources are for; selftests are no kernel code.
ignored=FILE_PATH_CHANGES,ALLOC_WITH_SIZEOF
ignored_selftests=$ignored,VOLATILE,BIT_MACRO,PREFER_DEFINED_ATTRIBUTE_MACRO,EMBEDDED_FUNCTION_NAME,CAMELCASE

styled()
{
	local patch status=0

	for patch in "$work"/series/*.patch; do
		case $patch in
		*selftests*) set -- --ignore "$ignored_selftests" ;;
		*) set -- --ignore "$ignored" ;;
		esac
		# In a checkout it leaves a file behind.
		(cd / && perl "$work/source/scripts/checkpatch.pl" --no-tree --strict --no-signoff --no-summary --terse "$@" \
			"$patch") || status=1
	done
	return $status
}

# The tree is as it was when this ends.
applied()
{
	local patch done=()

	for patch in "$work"/series/*.patch; do
		patch -d "$work/source" -p1 -s --no-backup-if-mismatch <"$patch" || return
		done=("$patch" "${done[@]}")
	done
	printf '%s\n' "${done[@]}" >"$work/source/.applied"
}

taken_back()
{
	local patch

	[ -e "$work/source/.applied" ] || return 0
	while read -r patch; do
		patch -d "$work/source" -p1 -R -s <"$patch" || return
	done <"$work/source/.applied"
	rm "$work/source/.applied"
}

kernel_make()
{
	BUILD_ROOT=builder "$lab" in make -C "$work/source" ARCH=riscv \
		CROSS_COMPILE=riscv64-linux-gnu- HOSTCC=gcc cmd_checkdoc= "$@"
}

# compiled OBJECTS y|m OBJECT DIRECTORY...: the configured tree, without a warning. OBJECT is in
# drivers/perf.
compiled()
{
	kernel_make -s O="$1" olddefconfig || return
	grep -qx "CONFIG_RVTRACE=$2" "$1/.config" || { echo "CONFIG_RVTRACE is not $2"; return 1; }
	kernel_make O="$1" -j "$(nproc)" W=1 "${@:4}" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; return 1; }
	! grep -E '(hwtracing/rvtrace|perf/riscv_ctr).*warning' "$work/log" || return
	[ -s "$1/drivers/hwtracing/rvtrace/rvtrace-core.o" ] && [ -s "$1/drivers/perf/$3" ]
}

# built y|m OBJECT OPTION...: OPTIONs are those of scripts/config.
built()
{
	local objects=$work/objects

	[ -e "$objects/.config" ] || kernel_make -s O="$objects" defconfig || return
	"$work/source/scripts/config" --file "$objects/.config" --set-val RVTRACE "$1" --set-val KUNIT "$1" \
		-e RVTRACE_KUNIT_TEST "${@:3}" || return
	compiled "$objects" "$1" "$2" drivers/hwtracing/rvtrace/ drivers/perf/
}

# The directories that the series touches, with all options of the kernel as modules
all_modules()
{
	local objects=$work/all-modules

	kernel_make -s O="$objects" allmodconfig || return
	compiled "$objects" m riscv_ctr_brstack.o drivers/hwtracing/rvtrace/ drivers/perf/ arch/riscv/kernel/
}

taken_back 2>/dev/null || rm -rf "$work/source"
check "the kernel's sources are there" "$lab" source 7.2 "$work/source" "${left_out[@]}" || { done_testing; exit; }
check "the series is made" upstream/kernel/make-series "$work/source" "$work/series"
is "so many patches" 16 "$(find "$work/series" -name '*.patch' | wc -l)"
check "checkpatch accepts it" styled
check "it applies" applied
check "comments for kernel-doc are well-formed" python3 "$work/source/tools/docs/kernel-doc" -none -Wall -Werror \
	"$work"/source/drivers/hwtracing/rvtrace/*.[ch]
check "the kernel builds with it, built in, with branch stacks" \
	built y riscv_ctr_brstack.o -e RISCV_CTR_BRSTACK -d RISCV_CTR
check "the kernel builds with it, as modules" built m riscv_ctr_core.o -d RISCV_CTR_BRSTACK -m RISCV_CTR
check "allmodconfig: the directories that it touches build" all_modules
check "it can be taken back" taken_back
done_testing
