/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Options that users know from stock perf, and that we do not have. */
#ifndef PERF_RVTRACE_PERF_OPTIONS_H
#define PERF_RVTRACE_PERF_OPTIONS_H

/*
 * Returns what to do instead of the option in @word (like "--tui" or "-D") of @command. NULL: it is
 * unknown.
 */
const char *perf_option_hint(const char *command, const char *word);

#endif
