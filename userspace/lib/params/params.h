/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Inside the library: parameters of callers of any version. */
#ifndef PARAMS_PARAMS_H
#define PARAMS_PARAMS_H

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

#endif
