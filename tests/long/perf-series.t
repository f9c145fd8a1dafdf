#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The series in upstream/perf: checkpatch accepts each patch, and perf builds behind each of them, with
# the library and without.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
work=$TOP/build/perf-series
mkdir -p "$work"
make --no-print-directory perf-packages >"$work/packages.log" 2>&1 ||
	skip_all "what perf's build needs is not there: $(tail -n 1 "$work/packages.log")"
make --no-print-directory install-library prefix="$work/install" DESTDIR= >"$work/library.log" 2>&1 ||
	skip_all "the library does not build: $(tail -n 1 "$work/library.log")"

# builds WITH PATCHES...: with the library, or without
builds()
{
	local with=$1

	shift
	PERF_PATCHES="$*" upstream/perf/build host "$work/$with" "$work/install" "RVTRACE=$([ "$with" = without ] || echo 1)"
}

has_library()
{
	"$work/install/bin/perf" check feature -q librvtrace
}

# What it asks for that does not hold: names of the C library's macros, and masks whose other bits are
# not numbers of bits. A test's first line says what it tests.
styled()
{
	local patch status=0

	for patch in upstream/perf/*.patch upstream/perf/6.12/*.patch; do
		(cd "$work/without/source" && perl scripts/checkpatch.pl --no-tree --root=. --strict --no-signoff --no-summary \
			--terse --ignore FILE_PATH_CHANGES,CAMELCASE,BIT_MACRO,SPDX_LICENSE_TAG - <"$TOP/$patch") || status=1
	done
	return $status
}

patches=()
for patch in "$TOP"/upstream/perf/*.patch; do
	patches+=("$patch")
	name=$(basename "$patch" .patch)
	check "perf builds without the library: up to $name" builds without "${patches[@]}"
	check "and has none" eval '! has_library'
	# The first records only.
	[ ${#patches[@]} -gt 1 ] || continue
	check "perf builds with the library: up to $name" builds with "${patches[@]}"
	check "and has it" has_library
done
check "checkpatch accepts them" styled
done_testing
