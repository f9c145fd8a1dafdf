// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "record/code-list.h"

int code_list_add(struct code_list *list, const struct rvt_code *what, uint64_t addr,
		  const uint8_t *bytes, uint64_t len)
{
	struct rvt_code code = { .addr = addr, .len = len, .kind = what->kind };
	uint8_t *copy;

	if (array_grow(&list->code, list->n))
		return -ENOMEM;
	code.name = strdup(what->name);
	code.bytes = copy = malloc(len + 1);
	if (!code.name || !copy) {
		free((void *)code.name);
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, bytes, len);
	list->code[list->n++] = code;
	return 0;
}

void code_list_free(const struct rvt_code *code)
{
	free((void *)code->bytes);
	free((void *)code->name);
}

void code_list_clear(struct code_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		code_list_free(&list->code[i]);
	free(list->code);
	*list = (struct code_list){ 0 };
}
