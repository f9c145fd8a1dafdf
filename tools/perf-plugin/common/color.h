/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Colour on terminals. */
#ifndef PERF_RVTRACE_COLOR_H
#define PERF_RVTRACE_COLOR_H

enum color {
	COLOR_NONE,
	COLOR_TITLE,
	COLOR_WARM,	/* perf's green: worth a look */
	COLOR_HOT,	/* perf's red */
};

#define COLOR_HELP \
"      --color WHEN      auto (on terminals, unless NO_COLOR is set), always, never\n"

/* Takes "auto" (the default), "always" or "never". Returns 0, or -EINVAL after a message. */
int color_set(const char *when);
/* Keeps what auto means for standard output now, wherever that is redirected later. */
void color_fix(void);
/* Return the terminal's sequences; "" without colour. */
const char *color_begin(enum color color);
const char *color_end(enum color color);
/* Returns the colour as perf does: hot from 5 percent on, warm from 0.5 percent on. */
enum color color_of_percent(double percent);

#endif
