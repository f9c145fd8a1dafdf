#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The library's interface is the one that packaging/librvtrace.abi describes: functions, and the
# layout of what their callers fill and read. `make abi` renews that, in the commit that means the
# change.
. "$(dirname "$0")/../tap.sh"
cd "$TOP" || exit 1
stored=packaging/librvtrace.abi
library=build/host/librvtrace.so
[ "$(uname -m)" = x86_64 ] || skip_all "the interface is described for x86_64"
command -v abidiff >/dev/null || tools/setup-host abigail-tools >/dev/null 2>&1 ||
	skip_all "no abidiff"
make -s $library || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# same LIBRARY: what it offers is what is stored, changes that libabigail calls harmless included.
same()
{
	packaging/abi "$1" >"$dir/now.abi" || return
	abidiff --harmless "$stored" "$dir/now.abi" >"$dir/report" 2>&1 && ! grep 'error' "$dir/report"
}

same $library
ok_or_show $? "the interface is the one that is stored (\`make abi\` stores it)" "$dir/report"
[ "$(grep -c '<function-decl ' $stored)" = "$(packaging/symbol-map --names | wc -l)" ]
ok $? "all public functions are stored"

# changed FILE SED-SCRIPT: a copy of the header, in which the script changes something.
changed()
{
	sed "$2" "include/rvtrace/$1" >"$dir/include/rvtrace/$1"
	! cmp -s "include/rvtrace/$1" "$dir/include/rvtrace/$1"
	ok $? "$1 can be changed"
}

# What is found: a new value, a member, a parameter.
mkdir "$dir/include"
cp -r include/rvtrace "$dir/include/"
changed params.h 's/RVT_MODE_HTM }/RVT_MODE_HTM, RVT_MODE_NEW }/'
changed insn.h 's/^struct rvt_insn {/&\n\tlong new_member;/'
changed version.h 's/rvt_version(void)/rvt_version(int new_parameter)/'
sed 's/rvt_version(void)/rvt_version(int new_parameter)/' userspace/lib/version.c >"$dir/version.c"
mapfile -t sources < <(find userspace/lib -name '*.c' ! -name version.c)
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -g -w -fPIC -shared -I"$dir/include" -Iuserspace -Iuserspace/lib \
	-Wl,--version-script=userspace/lib/librvtrace.map -Wl,-soname,librvtrace.so.0 \
	-o "$dir/librvtrace.so" "${sources[@]}" "$dir/version.c" -lelf -ldw -lzstd -lpthread \
	>"$dir/log" 2>&1
ok_or_show $? "a library with these changes is built" "$dir/log"
same "$dir/librvtrace.so"
is "it is another interface" 1 "$(($? != 0))"
for what in RVT_MODE_NEW new_member rvt_version; do
	grep -q $what "$dir/report"
	ok_or_show $? "found: $what" "$dir/report"
done
done_testing
