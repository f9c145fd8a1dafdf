/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: parameters of callers of any version, and as perf records them. */
#ifndef PARAMS_PARAMS_H
#define PARAMS_PARAMS_H

#include <stdio.h>
#include <rvtrace/params.h>
#include "util/sized.h"

/*
 * The caller's parameters as this library has them: @given itself, or, for a caller of another
 * version, a copy in @room. NULL: @given does not say its size.
 */
static inline const struct rvt_params *rvt_params_whole(const struct rvt_params *given,
							struct rvt_params *room)
{
	if (given->size == sizeof(*given))
		return given;
	return sized_copy(room, sizeof(*room), given) ? NULL : room;
}

/*
 * The numeric form of parameters in recordings by perf (upstream/perf, tools/perf/util/rvtrace.h):
 * pairs of words, a key's number and its value. Numbers and the values of names are for ever. A
 * list that needs more than a word goes on in that of the key RVT_WORD_MORE further.
 */
#define RVT_WORD_MORE 0x300
/*
 * rvt_params_words_print - writes @n pairs as text, as rvt_params_parse() reads it. What has no
 * name becomes "?", which that refuses. Returns 0, or -ENOTSUP: a key that is not known, or no
 * protocol.
 */
int rvt_params_words_print(const uint64_t *words, size_t n, FILE *f);
/*
 * rvt_params_words - all that @params say as *@n pairs, allocated for the caller. Returns 0,
 * -EINVAL (@params do not say their size) or -ENOMEM.
 */
int rvt_params_words(const struct rvt_params *params, uint64_t **words, size_t *n);

#endif
