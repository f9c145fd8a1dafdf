// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <rvtrace/version.h>

unsigned int rvt_version(void)
{
	return RVT_VERSION;
}
