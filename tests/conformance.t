#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Documentation/conformance.rst: each line has its columns, and the files and tests that it names
# exist.
. "$(dirname "$0")/tap.sh"

page=${1:-$TOP/Documentation/conformance.rst}

# rows: the lines of the tables.
rows() { grep -E '^   [^:]*\|' "$page"; }

# in_shell_test FILE BEGINNING: does a check of the test have a name that begins so? Names that hold
# what is only known when the test runs count up to there.
in_shell_test()
{
	local file name

	for file in "$TOP/tests/$1.t" "$TOP/tests/guest/$1.t" "$TOP/tests/guest/long/$1.t"; do
		[ -e "$file" ] || continue
		grep -qF -e "check \"$2" -e "ok \$? \"$2" -e "ok_or_show \$? \"$2" -e "is \"$2" "$file" && return 0
		# groups of random instructions are named by the program that makes them
		grep -q 'check "\$group: ' "$file" &&
			grep -qF "\"$2\"" "$TOP"/tests/unit/rv-insns.c "$TOP"/tests/tools/rvt-insns.c &&
			return 0
	done
	return 1
}

# exists NAME: FILE:TEST, or a file of corner cases.
exists()
{
	local file=${1%%:*} test=${1#*:}

	case $1 in
	*.eta) [ -e "$TOP/tests/etrace/$1" ] ;;
	*.nta) [ -e "$TOP/tests/ntrace/$1" ] ;;
	*_test:*) grep -qE "cmocka_unit_test\($test\)" "$TOP/tests/unit/$file.c" 2>/dev/null ;;
	*:*) in_shell_test "$file" "$test" ;;
	*) return 1 ;;
	esac
}

# names COLUMN: the tests in it, one a line. What has no .eta, .nta or "file:" begins nothing new.
names()
{
	local word name=

	for word in $1; do
		case $word in
		*.eta | *.nta | [a-z]*_test:* | [a-z]*:?*)
			[ -z "$name" ] || echo "$name"
			name=$word
			;;
		*) name="${name:+$name }$word" ;;
		esac
	done
	[ -z "$name" ] || echo "$name"
}

# columns: each line has four, none is empty, and the last names tests or says why there is none.
columns()
{
	rows | awk -F ' [|] ' '
		NF != 4 { print "not four columns: " $0; bad = 1 }
		$4 ~ /^- *$/ { print "no test, and no reason: " $0; bad = 1 }
		{ for (i = 1; i <= NF; i++) if ($i ~ /^ *$/) { print "empty: " $0; bad = 1 } }
		END { exit bad }'
}

enough() { [ "$(rows | wc -l)" -ge 70 ]; }

tests_exist()
{
	local column name bad=0

	while IFS= read -r column; do
		case $column in "- "*) continue ;; esac
		while IFS= read -r name; do
			exists "$name" || { echo "there is no test $name"; bad=1; }
		done < <(names "$column")
	done < <(rows | awk -F ' [|] ' '{ print $4 }')
	return $bad
}

# The files of the third column; of those without a folder, in the folder that the section names.
files_exist()
{
	local folder= line file bad=0

	while IFS= read -r line; do
		case $line in
		*'are in ``'*'``.'*) folder=${line##*are in \`\`} folder=${folder%%\`\`*} ;;
		'   '*' | '*)
			line=$(awk -F ' [|] ' '{ print $3 }' <<<"$line")
			[ "$line" != - ] || continue
			for file in ${line//,/ }; do
				[ -e "$TOP/$file" ] || [ -e "$TOP/$folder$file" ] ||
					{ echo "there is no file $file"; bad=1; }
			done
			;;
		esac
	done <"$page"
	return $bad
}

check "each item has its section, text, place and test" columns
check "there are as many items as the tandem protocol alone has" enough
check "the tests exist" tests_exist
check "the files exist" files_exist

# The test itself finds what is wrong.
wrong=$(mktemp)
trap 'rm -f "$wrong"' EXIT
printf '   2 | item | codec.c | tandem_codec_test:no_such_test\n' >"$wrong"
page=$wrong
check "a test that does not exist is found" eval '! tests_exist >/dev/null'
printf '   2 | item | nothing.c | tandem:boot: no\n' >"$wrong"
check "a file that does not exist is found" eval '! files_exist >/dev/null'
printf '   2 | item | codec.c | -\n' >"$wrong"
check "a missing reason is found" eval '! columns >/dev/null'
page=$TOP/Documentation/conformance.rst

done_testing
