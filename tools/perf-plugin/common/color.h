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

/* "auto", "always" or "never". 0, or -EINVAL after a message. Not called: auto. */
int color_set(const char *when);
/* What holds for standard output now holds from now on, whatever becomes of it. */
void color_fix(void);
/* The terminal's sequences; "" when there is to be no colour. */
const char *color_begin(enum color color);
const char *color_end(enum color color);
/* As perf has it: what is 5 percent or more is hot, from 0.5 percent on it is warm. */
enum color color_of_percent(double percent);

#endif
