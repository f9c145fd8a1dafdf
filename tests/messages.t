#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Documentation/messages.rst is what the sources say: a change of a message is a change of it, too.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
command -v python3 >/dev/null || skip_all "there is no python3"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The list finds what it should, where it stands.
tests/tools/list-messages >"$dir/messages.rst"
is "the list can be made" 0 $?
for text in "--call-trace\|two views of the recording" "cannot write to standard output" \
	"no trace hardware that Linux knows of" "is neither fifo\|is no size like\|is no level\|is no number from" \
	"no copy of /proc/kallsyms with addresses"; do
	grep -q -- "$text" "$dir/messages.rst"
	ok $? "it has '$text'"
done
diff Documentation/messages.rst "$dir/messages.rst" >"$dir/diff"
[ ! -s "$dir/diff" ] || echo "run: tests/tools/list-messages >Documentation/messages.rst" >>"$dir/diff"
[ ! -s "$dir/diff" ]
ok_or_show $? "Documentation/messages.rst is up to date" "$dir/diff"
done_testing
