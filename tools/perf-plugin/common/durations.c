// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/cmd.h"
#include "common/durations.h"
#include "common/text.h"

#define NS_LIMIT 1e19	/* no longer fits into 64 bits */

static const struct {
	const char *name;
	double ns;
} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };

const char *duration_text(uint64_t ns, char text[DURATION_SIZE])
{
	size_t unit = 0;

	while (ns < units[unit].ns && units[unit].ns > 1)
		unit++;
	if (units[unit].ns > 1)
		snprintf(text, DURATION_SIZE, "%.3f %s", ns / units[unit].ns, units[unit].name);
	else
		snprintf(text, DURATION_SIZE, "%" PRIu64 " ns", ns);
	return text;
}

int duration_parse(const char *what, const char *text, uint64_t *ns)
{
	const char *end = text;
	double value;

	if (!read_decimal(&end, &value))
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (!strcmp(end, units[i].name) && value * units[i].ns < NS_LIMIT) {
				*ns = value * units[i].ns;
				return 0;
			}
	return cmd_error(-EINVAL, "%s: '%s' is no length of time, like 50us, 1.5ms or 2s", what,
			 text);
}
