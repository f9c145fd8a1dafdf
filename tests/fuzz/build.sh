#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Builds the fuzz targets as OSS-Fuzz wants them: by its $CC, $CFLAGS, $CXX, $CXXFLAGS and
# $LIB_FUZZING_ENGINE, into $OUT.

set -eu
cd "$(dirname "$0")/../.."
build=build/oss-fuzz
# The seeds are made by programs of this machine, without sanitizers of another compiler.
env -u CC -u CFLAGS -u CXX -u CXXFLAGS make -j"$(nproc)" B=$build FUZZ_CC="$CC" \
	CFLAGS_fuzz="$CFLAGS -Wno-error" FUZZ_LINK="$CXX $CXXFLAGS" \
	FUZZ_ENGINE="$LIB_FUZZING_ENGINE" fuzz-programs
for seeds in $build/fuzz/seeds/*/; do
	target=$(basename "$seeds")
	cp "$build/fuzz/$target" "$OUT/"
	(cd "$seeds" && zip -qr "$OUT/${target}_seed_corpus.zip" .)
	for dict in tests/fuzz/dict/"$target".dict tests/fuzz/dict/"${target%%-*}".dict; do
		[ ! -e "$dict" ] || cp "$dict" "$OUT/$target.dict"
	done
done
cp -r $build/fuzz/files "$OUT/"
