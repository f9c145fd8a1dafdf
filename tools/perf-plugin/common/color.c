// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/color.h"

static enum { AUTO, ALWAYS, NEVER } when;

int color_set(const char *text)
{
	if (!strcmp(text, "always"))
		when = ALWAYS;
	else if (!strcmp(text, "never"))
		when = NEVER;
	else if (!strcmp(text, "auto"))
		when = AUTO;
	else
		return cmd_error(-EINVAL, "--color is auto, always or never, not '%s'", text);
	return 0;
}

/* NO_COLOR counts if it is set and not empty: https://no-color.org */
static bool wanted(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != AUTO)
		return when == ALWAYS;
	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

void color_fix(void)
{
	when = wanted() ? ALWAYS : NEVER;
}

const char *color_begin(enum color color)
{
	static const char *const sequences[] = { "", "\033[1m", "\033[32m", "\033[31m" };

	return wanted() ? sequences[color] : "";
}

const char *color_end(enum color color)
{
	return color != COLOR_NONE && wanted() ? "\033[m" : "";
}

enum color color_of_percent(double percent)
{
	return percent >= 5 ? COLOR_HOT : percent >= 0.5 ? COLOR_WARM : COLOR_NONE;
}
