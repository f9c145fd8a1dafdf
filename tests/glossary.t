#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The words in names of types: each is a term of Documentation/glossary.rst, a word of a
# specification, or one of those below that any program may use. So a new mechanism gets its
# sentence in the glossary with its name. And how wide lines of C are.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Of the specifications (E-Trace, N-Trace, Trace Control Interface, CTR, the ISA manual), of ELF and
# of perf's records.
specifications='access address aux auxtrace build callstack chip cksrc class clock code coding compression
	coresight cpu ctr ctte data dialect eh encoder esp32 etrace etype evcode event feature field format frame
	framing hart header hist indirect insn itype jump kernel load mem mode msg ntrace
	op operands operation options outcome packet perfdata prog protocol quirk qual range reason record repeat retire
	return returns sample section shadow sink space stack stats switch symbol sync task tcode text
	thread time timestamp trace trap type update vectors verifier verify'
# Of the Trace Control Interface, of CoreSight and of Linux' drivers, in names of the drivers.
drivers='atbbridge attr attribute backend caps common cs csr discovery funnel kunit output pibsink platform program
	ramsink tmc trigger ts v0'
# Of programs.
common='base batch begin bits buffer cache callback change chunk codec confidence config context count counts
	damage decode decoder dump end entry failure fetched file flow full function group head id image
	index info input item key kind last layout leaving line list location mapped mapping map
	missing more name named note object offset ops order own page params path plain problem
	progress read reader reading ref result rules run scan scanned seen session source sources state
	speed status step stop stream sums table totals use user walk walked followed when width word write
	writer'

# words FILE...: those in the tags of structs, unions and enums that the files define.
words()
{
	grep -hoE '^(static )?(struct|enum|union) [a-z0-9_]+ \{' "$@" | sed 's/^static //' | awk '{ print $2 }' |
		sed -E 's/^(rvt|rvtrace|riscv)_//' | tr _ '\n' | sort -u
}

# terms: first columns of the glossary's tables, word by word.
terms()
{
	awk '/^=+ =+$/ { inside = 1 } /^$/ { inside = 0 } inside && /^[a-z]/ { print substr($0, 1, 28) }' \
		Documentation/glossary.rst | tr -cs 'a-z-' '\n' | sort -u
}

# unknown [WORDS]: words of standard input that are neither terms nor listed, nor one of WORDS; the
# plural of one is known, too.
unknown()
{
	{ terms; tr -s ' \t' '\n' <<<"$specifications $common ${1:-}"; } | sort -u >"$dir/known"
	while read -r word; do
		grep -qxE -e "${word%s}s?|${word%ed}|$word" "$dir/known" || echo "$word"
	done
}

mapfile -t headers < <(find include/rvtrace userspace/lib -name '*.h')
words "${headers[@]}" >"$dir/words"
[ "$(wc -l <"$dir/words")" -gt 150 ]
ok $? "there are types"
[ "$(terms | wc -l)" -gt 50 ]
ok $? "the glossary has terms"
unknown <"$dir/words" >"$dir/unknown"
[ ! -s "$dir/unknown" ]
ok_or_show $? "each word in a name of a type is known" "$dir/unknown"
mapfile -t sources < <(find drivers -name '*.[ch]')
words "${sources[@]}" >"$dir/words"
[ "$(wc -l <"$dir/words")" -gt 30 ]
ok $? "the drivers have types"
unknown "$drivers" <"$dir/words" >"$dir/unknown"
[ ! -s "$dir/unknown" ]
ok_or_show $? "each word in a name of a driver's type is known" "$dir/unknown"
is "one that is not is found" leap "$(printf 'segment\nleap\nmemos\n' | unknown)"

# retired FILE...: names in code, outside of comments and strings, that have a word in them which
# meant several things, or which nobody of this field knows.
retired()
{
	local words='aside|crew|hop|leap|meaning|piece|spare|stride|teacher'

	awk '{ gsub(/"([^"\\]|\\.)*"/, "") }
		inside { if (!sub(/^.*\*\//, "")) next; inside = 0 }
		{ gsub(/\/\*([^*]|\*[^\/])*\*\//, " "); sub(/\/\/.*/, ""); inside = sub(/\/\*.*/, ""); print }' "$@" |
		grep -oE '[A-Za-z_][A-Za-z_0-9]*' |
		grep -iE "(^|_)($words)(s|d|ed)?(_|$)" | sort -u
}

mapfile -t sources < <(find include/rvtrace userspace tools/perf-plugin -name '*.[ch]')
retired "${sources[@]}" >"$dir/retired"
[ ! -s "$dir/retired" ]
ok_or_show $? "no name has a word that was given up" "$dir/retired"
printf 'int n_hops; /* a leap */ char *leap_s = "spare";\n' >"$dir/retired.c"
is "one that has is found" "leap_s n_hops" "$(retired "$dir/retired.c" | xargs)"

# Words that are listed and used nowhere.
tr -s ' \t' '\n' <<<"$specifications $common" | sort | uniq -d >"$dir/twice"
[ ! -s "$dir/twice" ]
ok_or_show $? "no word is listed twice" "$dir/twice"

# wide FILE...: lines of more than 100 columns. Messages of drivers stay whole: someone will search
# for them.
wide()
{
	local message

	for file; do
		message=^$
		[[ $file != drivers/* ]] || message='[0-9]: *(dev|pr)_[a-z_]+\(.*"[^"]{40}'
		expand "$file" | grep -nE '.{101}' | grep -vE "$message" | sed "s:^:$file\::"
	done
}

mapfile -t sources < <(find Documentation drivers include selftests tests tools userspace -name '*.[ch]')
[ "${#sources[@]}" -gt 500 ]
ok $? "there are sources in C"
wide "${sources[@]}" >"$dir/wide"
[ ! -s "$dir/wide" ]
ok_or_show $? "no line of C is wider than 100 columns" "$dir/wide"
printf '\tint %092d;\n\tint %087d;\n' 0 0 >"$dir/wide.c"
is "one that is wider is found" "$dir/wide.c:1" "$(wide "$dir/wide.c" | sed 's/: .*//')"

# wide_text FILE...: the same of documents. Not looked at are literal blocks, which show what programs
# print, the records of csv-table, and what cannot be broken, like addresses of the web.
wide_text()
{
	awk 'FNR == 1 { literal = -1; fenced = 0; markdown = FILENAME ~ /\.md$/ }
		/^ *$/ { next }
		{ match($0, /^ */); indent = RLENGTH }
		literal >= 0 && indent > literal { next }
		{ literal = -1 }
		/^ *```/ { fenced = !fenced }
		fenced || (markdown && indent >= 4) { next }
		/::$/ && !/^ *\.\. / || /^ *\.\. (csv-table|code-block|parsed-literal)::/ { literal = indent }
		length > 100 && substr($0, indent + 1, 100 - indent) ~ /[^-*] / { print FILENAME ":" FNR ": " $0 }' "$@"
}

mapfile -t texts < <(find Documentation tools upstream README.md -name '*.rst' -o -name '*.md')
[ "${#texts[@]}" -gt 25 ]
ok $? "there are documents"
wide_text "${texts[@]}" >"$dir/wide"
[ ! -s "$dir/wide" ]
ok_or_show $? "no line of a document is wider than 100 columns" "$dir/wide"
line=$(printf '%060d %060d' 0 0)
printf '%s\n' "$line" "so::" "" "  $line" "" "$line" ".. csv-table::" "" "  $line" >"$dir/wide.rst"
printf '%s\n' "| $line |" "    $line" '```' "$line" '```' "- [a](https://b.c/${line/ /})" >"$dir/wide.md"
is "one that is wider is found, but no literal block" "$dir/wide.rst:1 $dir/wide.rst:6 $dir/wide.md:1" \
	"$(wide_text "$dir/wide.rst" "$dir/wide.md" | sed 's/: .*//' | xargs)"

# What does not parse is shown as something else than was meant.
if python3 -c 'import docutils' 2>/dev/null; then
	python3 - "${texts[@]}" <<'EOF' 2>&1 |
import sys
from docutils.core import publish_doctree
for path in sys.argv[1:]:
    if path.endswith(".rst"):
        publish_doctree(open(path, encoding="utf-8").read(), path,
                        settings_overrides={"report_level": 2, "halt_level": 5})
EOF
		grep -E 'Traceback|Malformed|without end-string|Unexpected|too short|without a blank line' \
			>"$dir/broken"
	[ ! -s "$dir/broken" ]
	ok_or_show $? "each document parses" "$dir/broken"
else
	skip "each document parses" "there is no python3-docutils"
fi
done_testing
