// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Whose the flow of a hart is: by the trace, by AUX records, by context switches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <rvtrace/owner.h>

#define TOLD 11
#define RECORD 22
#define RUNNING 33
#define BUFFER 44

static struct rvt_owner_rules rules(void)
{
	return (struct rvt_owner_rules){ .size = sizeof(struct rvt_owner_rules), .thread = -1 };
}

static struct rvt_context told(void)
{
	return (struct rvt_context){ .scontext_valid = true, .scontext = TOLD };
}

static int32_t thread(const struct rvt_owner_rules *r, const struct rvt_context *context)
{
	const int32_t record = RECORD;

	return rvt_owner_thread(r, context, &record, RUNNING);
}

static void test_order(void **state)
{
	const struct rvt_context context = told(), nothing = { 0 };
	struct rvt_owner_rules r = rules();

	(void)state;
	/* whole cpus: the trace, else who runs */
	assert_int_equal(thread(&r, &context), TOLD);
	assert_int_equal(thread(&r, &nothing), RUNNING);
	assert_int_equal(rvt_owner_thread(&r, &nothing, NULL, -1), -1);
	/* a buffer of one thread */
	r.thread = BUFFER;
	assert_int_equal(thread(&r, &context), TOLD);
	assert_int_equal(thread(&r, &nothing), BUFFER);
	/* the trace's ids are others, as in a container */
	r.foreign_ids = true;
	assert_int_equal(thread(&r, &context), BUFFER);
}

static void test_tasks(void **state)
{
	const struct rvt_context nothing = { 0 };
	struct rvt_owner_rules r = rules();
	const int32_t record = RECORD;

	(void)state;
	r.by_task = true;
	assert_int_equal(thread(&r, &nothing), RECORD);
	/* switches are exact only where the trace has times */
	r.switches = true;
	assert_int_equal(thread(&r, &nothing), RECORD);
	r.timed = true;
	assert_int_equal(thread(&r, &nothing), RUNNING);
	assert_int_equal(rvt_owner_thread(&r, &nothing, &record, -1), RECORD);
	/* a late record of such a trace may have several threads: it does not count */
	r.contexts = true;
	assert_int_equal(rvt_owner_thread(&r, &nothing, &record, -1), -1);
	assert_int_equal(rvt_owner_thread(&r, &nothing, NULL, RUNNING), RUNNING);
}

static void test_hcontext(void **state)
{
	struct rvt_context context = told();
	struct rvt_owner_rules r = rules();

	(void)state;
	r.hcontext_max = 255;
	assert_false(rvt_owner_told(&r, &context));
	assert_int_equal(thread(&r, &context), RUNNING);
	context.hcontext_valid = true;
	context.hcontext = 254;
	assert_true(rvt_owner_told(&r, &context));
	assert_int_equal(thread(&r, &context), 254);
	context.hcontext = 255;		/* an id that does not fit */
	assert_int_equal(thread(&r, &context), RUNNING);
}

static void test_events(void **state)
{
	const struct rvt_event mode = {
		.type = RVT_EVENT_CONTEXT, .context = { .prv = 3, .prv_valid = true },
	};
	const struct rvt_event owner = { .type = RVT_EVENT_CONTEXT, .context = told() };
	const struct rvt_event guest = {
		.type = RVT_EVENT_CONTEXT, .context = { .prv = 1, .v = 1, .prv_valid = true },
	};
	const struct rvt_event stop = { .type = RVT_EVENT_STOP };
	struct rvt_event lost = { .type = RVT_EVENT_LOST, .reason = RVT_REASON_NO_CODE };
	struct rvt_event dropped = {
		.type = RVT_EVENT_MARK, .mark = RVT_MARK_LOST, .value = RVT_MARK_LOST_VENDOR,
	};
	struct rvt_context context = { 0 };
	struct rvt_owner_rules r = rules();

	(void)state;
	assert_false(rvt_owner_event(&r, &context, &mode));
	assert_true(context.prv_valid && context.prv == 3);
	assert_true(rvt_owner_event(&r, &context, &owner));
	assert_true(context.prv == 3 && rvt_owner_told(&r, &context));
	/* unreadable code hides nobody; anything else may have */
	assert_false(rvt_owner_event(&r, &context, &lost));
	assert_true(rvt_owner_told(&r, &context));
	/* nor do lost messages that tell no owner */
	assert_false(rvt_owner_event(&r, &context, &dropped));
	dropped.value |= RVT_MARK_LOST_OWNERSHIP;
	assert_true(rvt_owner_event(&r, &context, &dropped));
	assert_false(rvt_owner_told(&r, &context) || context.prv_valid);
	rvt_owner_event(&r, &context, &mode);
	rvt_owner_event(&r, &context, &owner);
	/* only N-Trace with Ownership tells again after a stop */
	assert_false(rvt_owner_event(&r, &context, &stop));
	r.contexts = r.ntrace = true;
	assert_false(rvt_owner_waits(&r, &context));
	assert_true(rvt_owner_event(&r, &context, &stop));
	assert_true(rvt_owner_waits(&r, &context));
	assert_true(context.prv_valid);
	/* a guest begins to run, and ends, whoever it is of */
	assert_true(rvt_owner_event(&r, &context, &guest));
	assert_true(context.v);
	assert_false(rvt_owner_event(&r, &context, &guest));
	assert_true(rvt_owner_event(&r, &context, &mode));
	assert_true(rvt_owner_event(&r, &context, &owner));
	assert_false(rvt_owner_waits(&r, &context));
	lost.reason = RVT_REASON_OVERFLOW;
	assert_true(rvt_owner_event(&r, &context, &lost));
	assert_false(context.prv_valid || rvt_owner_told(&r, &context));
}

static void test_records(void **state)
{
	struct rvt_context context = told();
	struct rvt_owner_rules r = rules();

	(void)state;
	rvt_owner_record(&r, &context);
	assert_true(rvt_owner_told(&r, &context));
	/* of chosen tasks, the next record may be of another one that does not say so */
	r.by_task = true;
	rvt_owner_record(&r, &context);
	assert_false(rvt_owner_told(&r, &context));
	context = told();
	r.contexts = true;
	rvt_owner_record(&r, &context);
	assert_true(rvt_owner_told(&r, &context));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_hcontext),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
