/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Copies of code that is in no file, before they are written into a recording. */
#ifndef PERF_RVTRACE_CODE_LIST_H
#define PERF_RVTRACE_CODE_LIST_H

#include <rvtrace/perfdata.h>

struct code_list {
	struct rvt_code *code;
	size_t n;
};

/* Adds a copy of @bytes with the kind and name of @what. Returns 0 or -ENOMEM. */
int code_list_add(struct code_list *list, const struct rvt_code *what, uint64_t addr,
		  const uint8_t *bytes, uint64_t len);
void code_list_clear(struct code_list *list);
/* Frees what code_list_add() made, for an entry that is in no list any more. */
void code_list_free(const struct rvt_code *code);

#endif
