// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decoder parameters as text that rvt_params_parse() reads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "keys.h"
#include "params/params.h"

static void print_ioptions(FILE *f, const struct key *key, const struct rvt_params *params)
{
	const unsigned int *items = (const unsigned int *)((const char *)params + key->offset);

	for (unsigned int i = 0; i < items[-1]; i++) {
		const char *name = "-";

		for (const struct name *n = key->names; n->name; n++)
			if (items[i] == n->value)
				name = n->name;
		fprintf(f, "%s%s", i ? ", " : "", name);
	}
}

static void print_vectors(FILE *f, const struct key *key, const struct rvt_trap_vectors *v)
{
	bool interrupt = key->offset == FIELD(vectors.interrupt);
	uint64_t valid = interrupt ? v->interrupt_valid : v->exception_valid;

	for (unsigned int i = 0; i < RVT_MAX_CAUSES; i++)
		if (valid >> i & 1)
			fprintf(f, "%s%u = 0x%llx\n", key->name, i, (unsigned long long)
				(interrupt ? v->interrupt : v->exception)[i]);
}

static void print_key(FILE *f, const struct key *key, const struct rvt_params *params)
{
	const void *field = (const char *)params + key->offset;
	unsigned int number = 0;

	switch (key->type) {
	case KEY_VECTORS:
		print_vectors(f, key, &params->vectors);
		return;
	case KEY_VECTOR:
		if (params->vectors.base_valid)
			fprintf(f, "%s = 0x%llx\n", key->name,
				(unsigned long long)params->vectors.base);
		return;
	case KEY_ADDRESS:
		fprintf(f, "%s = 0x%llx\n", key->name,
			(unsigned long long)*(const uint64_t *)field);
		return;
	default:
		memcpy(&number, field, sizeof(number));
		break;
	}
	fprintf(f, "%s = ", key->name);
	switch (key->type) {
	case KEY_NAME:
		for (const struct name *n = key->names; n->name; n++)
			if (n->value == number && n->protocols & 1u << params->protocol)
				fputs(n->name, f);
		break;
	case KEY_SET:
		rvt_params_print_set(f, key, number, params->protocol);
		break;
	case KEY_IOPTIONS:
		print_ioptions(f, key, params);
		break;
	default:
		fprintf(f, "%u", number);
		break;
	}
	fputc('\n', f);
}

int rvt_params_print(const struct rvt_params *params, char **text)
{
	struct rvt_params room;
	size_t size;
	FILE *f;

	*text = NULL;
	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
	f = open_memstream(text, &size);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < rvt_params_n_keys; i++)
		if (rvt_params_keys[i].protocols & 1u << params->protocol)
			print_key(f, &rvt_params_keys[i], params);
	return fclose(f) ? -ENOMEM : 0;
}
