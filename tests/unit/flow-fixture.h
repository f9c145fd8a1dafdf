/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A flow over a small program, and what came out of it: for the tests of the flow engine. */
#ifndef TESTS_FLOW_FIXTURE_H
#define TESTS_FLOW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/image.h>
#include "flow/order.h"
#include "rv-code.h"

#define MAX_PCS 4096

/* What came out of a flow: one entry per instruction, and a letter per event. */
struct output {
	uint64_t pcs[MAX_PCS];
	size_t n;
	char events[64];
	struct rvt_event last;
	int refuse_after;	/* runs() returns 77 after so many calls; 0: never */
};

struct fixture {
	struct rvt_image *image;
	struct rvt_space *space;
	struct rvt_flow *flow;
	struct output out;
	struct rv_code code;
};

static inline int on_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct output *out = ctx;

	for (size_t i = 0; i < n; i++) {
		const struct rvt_block *b = runs[i].block;
		uint64_t pc = b->pc;

		assert_true(runs[i].count > 0);
		assert_true(runs[i].first + runs[i].count <= b->insns);
		for (uint32_t j = 0; j < runs[i].first + runs[i].count; j++) {
			if (j >= runs[i].first && out->n < MAX_PCS)
				out->pcs[out->n++] = pc;
			pc += 2 * b->halfwords[j];
		}
	}
	return out->refuse_after && --out->refuse_after == 0 ? 77 : 0;
}

static inline int on_event(void *ctx, const struct rvt_event *event)
{
	static const char letters[] = "[]TCtLM";
	struct output *out = ctx;
	size_t n = strlen(out->events);

	out->last = *event;
	if (n + 1 < sizeof(out->events))
		out->events[n] = letters[event->type];
	return 0;
}

static bool reference;	/* which walk the fixture makes */

static inline void make_flow(struct fixture *f, unsigned int isa, unsigned int depth)
{
	struct rvt_flow_config config = {
		.size = sizeof(config), .isa = isa, .return_stack_depth = depth,
		.reference_walk = reference,
	};
	struct rvt_flow_sink sink = { .size = sizeof(sink), .ctx = &f->out, .runs = on_runs,
		.event = on_event };

	assert_int_equal(rvt_flow_create(&config, &sink, &f->flow), 0);
	rvt_flow_set_space(f->flow, f->space);
}

static inline void set_up(struct fixture *f, unsigned int isa, unsigned int depth)
{
	memset(f, 0, sizeof(*f));
	f->code.base = f->code.pc = 0x1000;
	assert_int_equal(rvt_image_create(&f->image), 0);
	assert_int_equal(rvt_space_create(f->image, NULL, &f->space), 0);
	make_flow(f, isa, depth);
}

static inline void load(struct fixture *f)
{
	assert_int_equal(rvt_space_map_bytes(f->space, f->code.base, f->code.bytes,
					     f->code.pc - f->code.base, "program"), 0);
}

static inline void tear_down(struct fixture *f)
{
	rvt_flow_destroy(f->flow);
	rvt_image_destroy(f->image);
}

static inline struct rvt_order unlimited(void)
{
	return (struct rvt_order){ .max_halfwords = RVT_UNLIMITED, .max_insns = RVT_UNLIMITED };
}

#endif
