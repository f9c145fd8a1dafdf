// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sleeps again and again for half a millisecond, until it is killed. */
#include <time.h>

int main(void)
{
	const struct timespec time = { 0, 500000 };

	for (;;)
		nanosleep(&time, NULL);
}
