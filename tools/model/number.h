/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Numbers in the arguments of plugins. */
#ifndef RVTRACE_MODEL_NUMBER_H
#define RVTRACE_MODEL_NUMBER_H

#include <stdint.h>

/*
 * Parses a decimal, 0x hexadecimal or 0 octal number. Returns 0, or -EINVAL: it is not one up to
 * @max, or something follows it.
 */
int model_number(const char *text, uint64_t max, uint64_t *value);

#endif
