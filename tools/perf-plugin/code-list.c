// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "code-list.h"

int code_list_add(struct code_list *list, const struct rvt_code *what, uint64_t addr,
		  const uint8_t *bytes, uint64_t len)
{
	struct rvt_code *grown = reallocarray(list->code, list->n + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	list->code = grown;
	grown[list->n] = *what;
	grown[list->n].addr = addr;
	grown[list->n].len = len;
	grown[list->n].name = strdup(what->name);
	grown[list->n].bytes = malloc(len + 1);
	if (!grown[list->n].name || !grown[list->n].bytes) {
		free((void *)grown[list->n].name);
		free((void *)grown[list->n].bytes);
		return -ENOMEM;
	}
	memcpy((void *)grown[list->n].bytes, bytes, len);
	list->n++;
	return 0;
}

void code_list_clear(struct code_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free((void *)list->code[i].bytes);
		free((void *)list->code[i].name);
	}
	free(list->code);
	*list = (struct code_list){ 0 };
}
