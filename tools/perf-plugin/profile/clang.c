// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * LLVM's sample profile as text (the head of llvm/ProfileData/SampleProfReader.h describes it):
 *
 *	function:total:entered
 *	 line.discriminator: count target:count ...
 *	 line: inlined function:total
 *	  line: count
 */
#include <inttypes.h>
#include <search.h>
#include "profile/samples.h"

struct writing {
	FILE *out;
	unsigned int depth;
};

static void put_location(const struct writing *writing, struct line_location location)
{
	fprintf(writing->out, "%*s%u", (int)writing->depth, "", location.line);
	if (location.discriminator)
		fprintf(writing->out, ".%u", location.discriminator);
	fputs(": ", writing->out);
}

static void put_target(const void *node, VISIT which, void *closure)
{
	const struct sample_target *target = *(struct sample_target *const *)node;

	if (samples_in_order(which))
		fprintf(closure, " %s:%" PRIu64, target->name, target->count);
}

static void put_line(const void *node, VISIT which, void *closure)
{
	const struct sample_line *line = *(struct sample_line *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which))
		return;
	put_location(writing, line->location);
	fprintf(writing->out, "%" PRIu64, line->count);
	twalk_r(line->targets, put_target, writing->out);
	fputc('\n', writing->out);
}

static void put_inlined(const void *node, VISIT which, void *closure);

static void put_body(const struct sample_function *function, const struct writing *outer)
{
	struct writing writing = { outer->out, outer->depth + 1 };

	twalk_r(function->lines, put_line, &writing);
	twalk_r(function->inlined, put_inlined, &writing);
}

static void put_inlined(const void *node, VISIT which, void *closure)
{
	const struct sample_function *function = *(struct sample_function *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which) || !function->total)
		return;
	put_location(writing, function->call);
	fprintf(writing->out, "%s:%" PRIu64 "\n", function->name, function->total);
	put_body(function, writing);
}

static void put_function(const void *node, VISIT which, void *closure)
{
	const struct sample_function *function = *(struct sample_function *const *)node;
	const struct writing *writing = closure;

	if (!samples_in_order(which) || !function->total)
		return;
	fprintf(writing->out, "%s:%" PRIu64 ":%" PRIu64 "\n", function->name, function->total,
		function->calls);
	put_body(function, writing);
}

int clang_write(const struct samples *samples, FILE *out)
{
	struct writing writing = { out, 0 };

	twalk_r(samples->functions, put_function, &writing);
	return 0;
}
