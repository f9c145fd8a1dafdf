#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# `archive --files`: a tar file that other readers of tar take, and nothing in it that the recording
# does not run. tests/guest/archive.t decodes one of a whole system.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
rv=$TOP/build/host/perf-rvtrace
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# records NAME [option of rvt-recording]: a recording that maps the file NAME, which becomes what ran.
records()
{
	local name=$1

	shift
	build/host/rvt-recording "$dir/perf.data" "$name" 0 prog 3000 "$@" || return
	mkdir -p "$(dirname "$name")" && mv "$dir/perf.data.program" "$name"
}

archive()
{
	"$rv" archive -i "$dir/perf.data" --files -o "$dir/tar" >"$dir/out" 2>"$dir/err"
}

# Longer than what a header of tar has room for.
long=$dir/$(printf 'n%.0s' {1..90})/$(printf 'm%.0s' {1..90})/program
for name in "$dir/short" "$long"; do
	records "$name" && archive
	ok_or_show $? "${name##*/}: archive --files" "$dir/err"
	is "${name##*/}: no warning" "" "$(cat "$dir/err")"
	rm -rf "$dir/board" && mkdir "$dir/board"
	check "${name##*/}: tar reads it" tar -C "$dir/board" -xf "$dir/tar"
	is "${name##*/}: what is in it" "files$name perf.data" \
		"$(cd "$dir/board" && find . -type f -printf '%P\n' | sort | tr '\n' ' ' | sed 's/ $//')"
	check "${name##*/}: the recording" cmp "$dir/perf.data" "$dir/board/perf.data"
	check "${name##*/}: the program" cmp "$name" "$dir/board/files$name"
	is "${name##*/}: a file for its owner only" 600 "$(stat -c %a "$dir/tar")"
	rm "$name"
	check "${name##*/}: enough to decode" \
		"$rv" stat --strict -i "$dir/board/perf.data" --symfs "$dir/board/files"
done
check "Python's tarfile reads it" python3 -c 'import sys, tarfile
names = [m.name for m in tarfile.open(sys.argv[1])]
assert names == ["perf.data", "files" + sys.argv[2]], names' "$dir/tar" "$long"

# leaves_out NAME TEXT: the archive has only the recording, and says this of the file.
leaves_out()
{
	archive && [ "$(tar -tf "$dir/tar")" = perf.data ] && grep -qF "$2 is not in the archive: $3" "$dir/err"
	ok_or_show $? "$1" "$dir/err"
}
leaves_out "a file that is gone" "$long" "No such file"
records "$dir/short" && mv "$dir/short" "$dir/other" && ln -s other "$dir/short"
leaves_out "a link in its place" "$dir/short" "it is no regular file"
rm "$dir/short" && mkfifo "$dir/short"
leaves_out "a FIFO in its place" "$dir/short" "it is no regular file"
rm "$dir/short"
mkdir "$dir/sub"
records "$dir/sub/../short"
leaves_out "a name that leads elsewhere" "$dir/sub/../short" "it is no regular file"
rm "$dir/short"

records "$dir/short" build-id=00112233445566778899aabbccddeeff00112233 && cp "$rv" "$dir/short" && archive
ok $? "a file of another build"
grep -qF "$dir/short has changed since it was recorded" "$dir/err"
ok_or_show $? "is warned of" "$dir/err"

# A disk that is full.
"$rv" archive -i "$dir/perf.data" --files -o /dev/full 2>"$dir/err"
is "nowhere to write to: status" 1 $?
grep -q "cannot write /dev/full" "$dir/err"
ok_or_show $? "nowhere to write to: message" "$dir/err"
done_testing
