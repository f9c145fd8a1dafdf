# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""Prints a C program that prints what the compiler makes of each struct, or with an argument, what
ctypes makes of it: "STRUCT size N", "STRUCT MEMBER offset size"."""

import ctypes
import sys

from rvtrace import _library as c


def c_name(member):
    return member.rstrip("_")


if len(sys.argv) > 1:
    for struct in c.STRUCTS:
        print(struct.__name__, "size", ctypes.sizeof(struct))
        for member, _ in struct._fields_:
            field = getattr(struct, member)
            print(struct.__name__, c_name(member), field.offset, field.size)
    print("lost", c.EVENT_LOST, "mark", c.EVENT_MARK, "reasons", len(c.REASONS))
    sys.exit()
print("#include <stddef.h>\n#include <stdio.h>")
for header in c.HEADERS:
    print(f"#include <rvtrace/{header}>")
print("int main(void)\n{")
for struct in c.STRUCTS:
    name = "struct rvt_" + struct.__name__
    print(f'\tprintf("{struct.__name__} size %zu\\n", sizeof({name}));')
    for member, _ in struct._fields_:
        of = c_name(member)
        print(f'\tprintf("{struct.__name__} {of} %zu %zu\\n", offsetof({name}, {of}), '
              f'sizeof((({name} *)0)->{of}));')
print('\tprintf("lost %d mark %d reasons %d\\n", RVT_EVENT_LOST, RVT_EVENT_MARK, '
      'RVT_REASON_DISABLED + 1);')
print("\treturn 0;\n}")
