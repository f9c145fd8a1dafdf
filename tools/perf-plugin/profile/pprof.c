// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instructions by calling context in pprof's format. Threads are labels. Each function is one
 * location, as costs are not distinguished within a function.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/contexts.h"
#include "profile/profile.h"

#ifdef HAVE_PROTOBUF
#include "pprof.pb-c.h"
#include "profile/protobuf.h"

/* A string, file or function with its number; .name comes first, for tsearch(). */
struct numbered {
	const char *name, *dso;	/* .dso NULL: no function */
	uint64_t id;
};

struct pprof {
	FILE *out;
	void *strings, *files, *functions;	/* tsearch trees of struct numbered */
	uint64_t n_strings, n_files, n_functions;
};

static int compare(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order || !x->dso ? order : strcmp(x->dso, y->dso);
}

static int put(struct pprof *pprof, const Pprof__Profile *profile)
{
	return protobuf_put(&profile->base, pprof->out);
}

/*
 * Sets *@id to the number of @name and @dso; numbers go up from *@n. Returns 1: it is new, and must
 * be written; 0; or -ENOMEM.
 */
static int number(void **tree, uint64_t *n, const char *name, const char *dso, uint64_t *id)
{
	struct numbered key = { name, dso, 0 }, *numbered;
	struct numbered **found = tfind(&key, tree, compare);

	if (found) {
		*id = (*found)->id;
		return 0;
	}
	numbered = malloc(sizeof(*numbered));
	if (!numbered)
		return -ENOMEM;
	*numbered = (struct numbered){ name, dso, *n };
	if (!tsearch(numbered, tree, compare)) {
		free(numbered);
		return -ENOMEM;
	}
	*id = (*n)++;
	return 1;
}

static int put_string(struct pprof *pprof, const char *text, int64_t *id)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	char *strings[] = { (char *)text };
	uint64_t n = 0;
	int err = number(&pprof->strings, &pprof->n_strings, text, NULL, &n);

	*id = n;
	if (err <= 0)
		return err;
	profile.n_string_table = 1;
	profile.string_table = strings;
	return put(pprof, &profile);
}

static int put_file(struct pprof *pprof, const char *dso, uint64_t *id)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings[] = { &mapping };
	int err = number(&pprof->files, &pprof->n_files, dso, NULL, id);

	if (err <= 0)
		return err;
	mapping.has_id = mapping.has_filename = mapping.has_has_functions = true;
	mapping.id = *id;
	mapping.has_functions = true;
	err = put_string(pprof, dso, &mapping.filename);
	profile.n_mapping = 1;
	profile.mapping = mappings;
	return err ? err : put(pprof, &profile);
}

/* Writes a function and its location, which have the same number. */
static int put_function(struct pprof *pprof, const struct context *context, uint64_t *id)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions[] = { &function };
	Pprof__Location location = PPROF__LOCATION__INIT, *locations[] = { &location };
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = { &line };
	int err = number(&pprof->functions, &pprof->n_functions, context->name, context->dso, id);

	if (err <= 0)
		return err;
	function.has_id = function.has_name = function.has_system_name = true;
	function.id = location.id = line.function_id = *id;
	location.has_id = location.has_mapping_id = line.has_function_id = true;
	location.n_line = 1;
	location.line = lines;
	err = put_string(pprof, context_label(context), &function.name);
	function.system_name = function.name;
	if (!err)
		err = put_file(pprof, *context->dso ? context->dso : "[unknown]",
			       &location.mapping_id);
	profile.n_function = profile.n_location = 1;
	profile.function = functions;
	profile.location = locations;
	return err ? err : put(pprof, &profile);
}

static int put_context(struct pprof *pprof, const struct context *context)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[] = { &sample };
	Pprof__Label label = PPROF__LABEL__INIT, *labels[] = { &label };
	uint64_t locations[CONTEXT_MAX_DEPTH + 1];
	int64_t value = context->self;
	int err = 0;

	/* those below the root are the threads */
	for (; !err && context->parent && context->parent->parent; context = context->parent)
		err = put_function(pprof, context, &locations[sample.n_location_id++]);
	if (!err)
		err = put_string(pprof, "thread", &label.key);
	if (!err)
		err = put_string(pprof, context->name, &label.str);
	label.has_key = label.has_str = true;
	sample.location_id = locations;
	sample.n_value = sample.n_label = 1;
	sample.value = &value;
	sample.label = labels;
	profile.n_sample = 1;
	profile.sample = samples;
	return err ? err : put(pprof, &profile);
}

static int put_all(struct pprof *pprof, const struct context *root)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT, *types[] = { &type };
	int64_t empty;
	/* the format wants this one as string 0 */
	int err = put_string(pprof, "", &empty);

	if (!err)
		err = put_string(pprof, "instructions", &type.type);
	if (!err)
		err = put_string(pprof, "count", &type.unit);
	type.has_type = type.has_unit = true;
	profile.n_sample_type = 1;
	profile.sample_type = types;
	if (!err)
		err = put(pprof, &profile);
	for (const struct context *node = root; node && !err; node = context_next(root, node))
		if (node->self && node->parent)
			err = put_context(pprof, node);
	return err;
}

int pprof_write(const struct context *root, FILE *out)
{
	struct pprof pprof = { .out = out, .n_files = 1, .n_functions = 1 };
	int err = put_all(&pprof, root);

	tdestroy(pprof.strings, free);
	tdestroy(pprof.files, free);
	tdestroy(pprof.functions, free);
	return err;
}
#else
int pprof_write(const struct context *root, FILE *out)
{
	(void)root, (void)out;
	return cmd_error(-ENOTSUP, "the format pprof needs protobuf-c: install libprotobuf-c-dev "
			 "and protobuf-c-compiler, and build again");
}
#endif
