#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The library's door: what the objects offer, and what public headers say of each struct and of
# threads. What the functions make of sizes and NULL is in tests/unit/door_test.c.
. "$(dirname "$0")/tap.sh"
cd "$TOP" || exit 1
make -s build/host/librvtrace.so build/host/librvtrace.a || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
max_exports=110

nm -D --defined-only build/host/librvtrace.so | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$dir/exports"
packaging/symbol-map --names | sort >"$dir/names"
diff "$dir/names" "$dir/exports" >"$dir/diff"
ok_or_show $? "the library exports the functions of public headers, and nothing else" "$dir/diff"
[ "$(wc -l <"$dir/exports")" -le $max_exports ]
ok $? "these are $(wc -l <"$dir/exports"), of $max_exports at most"

# bare LIBRARY: names in a static library that could clash with those of a program, where none has a
# dot. Those are GCC's, of debug information.
bare()
{
	nm -g --defined-only "$1" | awk 'NF == 3 && $3 !~ /^rvt_|\./ { print $3 }' | sort -u
}

for library in librvtrace.a librvtrace-model.a; do
	bare build/host/$library >"$dir/bare"
	[ ! -s "$dir/bare" ]
	ok_or_show $? "$library has no name without prefix" "$dir/bare"
done
printf 'int rvt_a, b;\nstatic int c;\nint *d(void) { return &c; }\n' >"$dir/bare.c"
${CC:-cc} -c -o "$dir/bare.o" "$dir/bare.c" && ar rc "$dir/bare.a" "$dir/bare.o"
is "one without is found" "b d" "$(bare "$dir/bare.a" | xargs)"

# unsized HEADER...: structs that have a size for growing, but not as their first member.
unsized()
{
	awk '/^struct [a-z0-9_]+ \{/ { name = $2; members = 0 }
		/^\t[a-z].*;/ { members++ }
		/^\tsize_t size;.*may grow/ && members > 1 { print FILENAME ": " name }' "$@"
}

mapfile -t headers < <(sed 's:^:include/rvtrace/:' packaging/public-headers)
[ "$(grep -c 'size_t size;.*may grow' "${headers[@]}" | awk -F: '{ n += $2 } END { print n }')" -gt 15 ]
ok $? "there are structs that may grow"
unsized "${headers[@]}" >"$dir/unsized"
[ ! -s "$dir/unsized" ]
ok_or_show $? "the size is their first member" "$dir/unsized"
printf 'struct a {\n\tint b;\n\tsize_t size;\t/* the struct may grow */\n};\n' >"$dir/unsized.h"
is "one with it behind another is found" "$dir/unsized.h: a" "$(unsized "$dir/unsized.h")"

grep -LiE '\bthreads?\b' "${headers[@]}" >"$dir/silent"
[ ! -s "$dir/silent" ]
ok_or_show $? "each public header says what may be called from which thread" "$dir/silent"

# silent HEADER...: functions that end an object and do not say whether it may be NULL.
silent()
{
	awk '/^void rvt_[a-z_]*(destroy|close)\(/ && last !~ /NULL/ { print FILENAME ": " $0 } { last = $0 }' "$@"
}

silent "${headers[@]}" >"$dir/silent"
[ ! -s "$dir/silent" ]
ok_or_show $? "what ends an object says whether it may be NULL" "$dir/silent"
done_testing
