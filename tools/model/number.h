/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Numbers in the arguments of plugins. */
#ifndef RVTRACE_MODEL_NUMBER_H
#define RVTRACE_MODEL_NUMBER_H

#include <stdint.h>

/* Decimal, 0x hexadecimal or 0 octal, nothing behind it. 0, or -EINVAL: it is none up to @max. */
int model_number(const char *text, uint64_t max, uint64_t *value);

#endif
