// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Runs a folder of test files: one for each corner case, with a trace as directives, the dump
 * that must come of it, the program, and the flow that must come of both.
 * tests/ntrace/README.rst explains the form. Expected dumps and flows are worked out by hand.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <rvtrace/access.h>
#include <rvtrace/dump.h>
#include <rvtrace/image.h>
#include <rvtrace/stream.h>
#include "rv-asm.h"
#include "trace-files.h"

#define MAX_TRACE (1 << 16)
#define MAX_CODE (1 << 14)
#define MAX_GAPS 8
#define MAX_SOURCES 4096

/* A place where bytes of the trace are missing. */
struct gap {
	size_t offset;
	bool boundary;
};

struct file {
	const char *name;
	struct rvt_params params;
	struct rvt_params assembly;	/* parameters as the trace changes them */
	struct rvt_image *image;
	struct rvt_space *space;
	uint8_t trace[MAX_TRACE];
	size_t len;
	char *params_text;		/* as it stands there; NULL: none */
	uint8_t code[MAX_CODE];		/* each instruction: address, length in a byte, bytes */
	size_t code_len, n_insns;
	struct gap gaps[MAX_GAPS];
	size_t n_gaps;
	char *expected_dump;		/* NULL: not given */
	char *expected_flow;
};

static const struct trace_files *set;

enum section {
	SECTION_NONE, SECTION_PARAMS, SECTION_CODE, SECTION_TRACE, SECTION_DUMP, SECTION_FLOW
};

/* ---- the file ---- */

static void append(char **text, const char *line)
{
	char *old = *text;

	if (asprintf(text, "%s%s\n", old ? old : "", line) < 0)
		fail();
	free(old);
}

static void keep_insn(struct file *file, uint64_t pc, const uint8_t *bytes, uint8_t len)
{
	uint8_t *to = file->code + file->code_len;

	assert_true(file->code_len + sizeof(pc) + 1 + len <= MAX_CODE);
	memcpy(to, &pc, sizeof(pc));
	to[sizeof(pc)] = len;
	memcpy(to + sizeof(pc) + 1, bytes, len);
	file->code_len += sizeof(pc) + 1 + len;
	file->n_insns++;
}

/* "1000: nop"; several instructions of one line are separated by ';' */
static void read_code(struct file *file, unsigned int line_no, char *line)
{
	char *colon = strchr(line, ':'), *save, *one;
	uint64_t pc = strtoull(line, NULL, 16);

	if (!colon)
		fail_msg("%s:%u: no address", file->name, line_no);
	for (one = strtok_r(colon + 1, ";", &save); one; one = strtok_r(NULL, ";", &save)) {
		uint8_t bytes[8];
		size_t len = rv_assemble(pc, one, bytes);

		if (!len)
			fail_msg("%s:%u: no instruction: %s", file->name, line_no, one);
		assert_int_equal(rvt_space_map_bytes(file->space, pc, bytes, len, "code"), 0);
		keep_insn(file, pc, bytes, len);
		pc += len;
	}
}

static bool read_own_directive(struct file *file, const char *line)
{
	unsigned int n;

	if (sscanf(line, "cut %u", &n) == 1 && n <= file->len) {
		file->len -= n;
		return true;
	}
	if (!strcmp(line, "lost") || !strcmp(line, "lost boundary")) {
		assert_true(file->n_gaps < MAX_GAPS);
		file->gaps[file->n_gaps].offset = file->len;
		file->gaps[file->n_gaps++].boundary = line[4];
		return true;
	}
	return false;
}

/* A directive; "N * DIRECTIVE" repeats it */
static void read_trace(struct file *file, unsigned int line_no, const char *line)
{
	unsigned int times = 1;
	char error[200] = "";
	int skip = 0;

	if (read_own_directive(file, line))
		return;
	if (sscanf(line, "%u * %n", &times, &skip) == 1 && skip)
		line += skip;
	else
		times = 1;
	while (times--) {
		int ret = set->assemble(&file->assembly, line, file->trace + file->len,
					MAX_TRACE - file->len, error, sizeof(error));

		if (ret < 0)
			fail_msg("%s:%u: %s", file->name, line_no, error);
		file->len += ret;
	}
}

static void read_params(struct file *file, const char *line)
{
	char *error = NULL;

	if (rvt_params_parse(&file->params, file->name, line, strlen(line), &error))
		fail_msg("%s: %s", file->name, error);
	file->assembly = file->params;
	append(&file->params_text, line);
}

static enum section find_section(const char *line)
{
	static const char *const names[] = {
		[SECTION_PARAMS] = "[params]", [SECTION_CODE] = "[code]",
		[SECTION_TRACE] = "[trace]", [SECTION_DUMP] = "[dump]", [SECTION_FLOW] = "[flow]",
	};

	for (enum section s = SECTION_PARAMS; s <= SECTION_FLOW; s++)
		if (!strcmp(line, names[s]))
			return s;
	return SECTION_NONE;
}

static void read_line(struct file *file, enum section *section, unsigned int line_no, char *line)
{
	line[strcspn(line, "#\n")] = 0;
	for (size_t n = strlen(line); n && strchr(" \t", line[n - 1]); n--)
		line[n - 1] = 0;
	if (!*line)
		return;
	if (*line == '[') {
		*section = find_section(line);
		/* an empty section expects nothing */
		if (*section == SECTION_DUMP)
			file->expected_dump = strdup("");
		else if (*section == SECTION_FLOW)
			file->expected_flow = strdup("");
		else if (*section == SECTION_NONE)
			fail_msg("%s:%u: no section: %s", file->name, line_no, line);
		return;
	}
	switch (*section) {
	case SECTION_PARAMS:
		read_params(file, line);
		break;
	case SECTION_CODE:
		read_code(file, line_no, line);
		break;
	case SECTION_TRACE:
		read_trace(file, line_no, line);
		break;
	case SECTION_DUMP:
		append(&file->expected_dump, line);
		break;
	case SECTION_FLOW:
		append(&file->expected_flow, line);
		break;
	case SECTION_NONE:
		fail_msg("%s:%u: text before the first section", file->name, line_no);
	}
}

static struct file *read_file(const char *name)
{
	struct file *file = calloc(1, sizeof(*file));
	enum section section = SECTION_NONE;
	unsigned int line_no = 0;
	char path[300], *line = NULL;
	size_t size = 0;
	FILE *in;

	assert_non_null(file);
	file->name = name;
	rvt_params_init(&file->params, set->protocol, set->dialect);
	file->assembly = file->params;
	assert_int_equal(rvt_image_create(&file->image), 0);
	assert_int_equal(rvt_space_create(file->image, NULL, &file->space), 0);
	snprintf(path, sizeof(path), "%s/%s", set->directory, name);
	in = fopen(path, "r");
	assert_non_null(in);
	while (getline(&line, &size, in) > 0)
		read_line(file, &section, ++line_no, line);
	free(line);
	fclose(in);
	if (!file->expected_dump && !file->expected_flow)
		fail_msg("%s: expects nothing", name);
	return file;
}

static void free_file(struct file *file)
{
	rvt_image_destroy(file->image);
	free(file->params_text);
	free(file->expected_dump);
	free(file->expected_flow);
	free(file);
}

/* ---- feeding ---- */

struct target {
	struct rvt_dump *dump;
	struct rvt_stream *stream;
};

/* Each piece is at the end of its allocation, so that reading beyond it is noticed. */
static void feed_piece(struct target *target, const uint8_t *bytes, size_t len, size_t offset)
{
	uint8_t *copy = malloc(len);

	memcpy(copy, bytes, len);
	if (target->dump)
		rvt_dump_feed(target->dump, copy, len, offset);
	else
		assert_int_equal(rvt_stream_feed(target->stream, copy, len, offset), 0);
	free(copy);
}

static void feed_gap(struct target *target, const struct gap *gap)
{
	if (target->dump)
		rvt_dump_lost(target->dump, gap->boundary);
	else
		assert_int_equal(rvt_stream_lost(target->stream, gap->offset, RVT_REASON_TRUNCATED,
						 gap->boundary), 0);
}

static void feed(const struct file *file, struct target *target, size_t max_piece)
{
	size_t pos = 0, gap = 0;

	for (;;) {
		size_t end = gap < file->n_gaps ? file->gaps[gap].offset : file->len;

		while (pos < end) {
			size_t piece = max_piece < end - pos ? max_piece : end - pos;

			feed_piece(target, file->trace + pos, piece, pos);
			pos += piece;
		}
		if (gap == file->n_gaps)
			break;
		feed_gap(target, &file->gaps[gap++]);
	}
	if (target->dump)
		rvt_dump_finish(target->dump);
	else
		assert_int_equal(rvt_stream_finish(target->stream), 0);
}

/* ---- dump ---- */

/* Takes offset and bytes off each line of a dump. */
static char *strip_dump(char *text)
{
	char *result = strdup(""), *save, *line;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		line = strchr(line, ':');
		assert_non_null(line);
		for (line++; *line == ' '; )
			line += strspn(line + 1, "0123456789abcdef") == 2 && line[3] == ' ' ? 3 : 1;
		append(&result, line);
	}
	return result;
}

static void compare(const struct file *file, const char *what, size_t piece, const char *got,
		    const char *expected)
{
	if (strcmp(got, expected))
		fail_msg("%s: %s in pieces of %zu bytes:\n%s-- expected:\n%s", file->name, what,
			 piece, got, expected);
}

static void check_dump(const struct file *file, size_t piece)
{
	struct target target = { 0 };
	char *text = NULL, *stripped;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(rvt_dump_create(&file->params, 0, out, &target.dump), 0);
	feed(file, &target, piece);
	rvt_dump_destroy(target.dump);
	fclose(out);
	stripped = strip_dump(text);
	compare(file, "dump", piece, stripped, file->expected_dump);
	free(stripped);
	free(text);
}

/* ---- flow ---- */

/* Output of one source, as text. The order among sources is not defined. */
struct output {
	struct check *check;
	unsigned int src;
	struct rvt_flow *flow;
	FILE *out;
	char *text;
	size_t size;
	bool in_line;			/* of pcs */
};

struct check {
	const struct file *file;
	bool reference_walk;
	bool times, contexts;		/* are expected */
	struct output outputs[MAX_SOURCES];
	FILE *out;
};

static const char *const reasons[] = {
	"none", "overflow", "truncated", "bad-packet", "bad-flow", "no-code", "bad-insn", "no-sync",
	"debug", "low-power", "disabled",
};

static void begin_line(struct output *output)
{
	if (output->in_line)
		fputc('\n', output->out);
	output->in_line = false;
	if (output->check->file->params.src_bits || output->check->file->params.srcid_bits)
		fprintf(output->out, "%u: ", output->src);
}

static int got_runs(void *ctx, const struct rvt_run *runs, size_t n)
{
	struct output *output = ctx;

	for (size_t i = 0; i < n; i++) {
		uint64_t pc = runs[i].block->pc;

		for (uint32_t k = 0; k < runs[i].first + runs[i].count; k++) {
			if (k >= runs[i].first) {
				if (output->in_line)
					fputc(' ', output->out);
				else
					begin_line(output);
				fprintf(output->out, "%" PRIx64, pc);
				output->in_line = true;
			}
			pc += 2 * runs[i].block->halfwords[k];
		}
	}
	return 0;
}

static void print_mark(FILE *out, const struct rvt_event *event)
{
	static const char *const names[] = {
		[RVT_MARK_USER] = "user", [RVT_MARK_WATCHPOINT] = "watchpoint",
		[RVT_MARK_CALL] = "call", [RVT_MARK_EXCEPTION] = "exception",
		[RVT_MARK_INTERRUPT] = "interrupt", [RVT_MARK_PC_SAMPLE] = "sample",
		[RVT_MARK_CONTROL] = "control", [RVT_MARK_TRIGGER] = "trigger",
		[RVT_MARK_LOST] = "lost",
	};
	const bool plain = event->mark == RVT_MARK_EVENT ||
			   (event->mark == RVT_MARK_TRIGGER && !event->own_pc);

	fprintf(out, "mark %" PRIx64, event->pc);
	if (!plain)
		fprintf(out, " %s", names[event->mark]);
	if (event->mark == RVT_MARK_USER)
		fprintf(out, " tag=%" PRIx64 " bytes=%u", event->tag, event->value_bytes);
	if (event->has_value)
		fprintf(out, " value=%" PRIx64, event->value);
	if (event->target)
		fprintf(out, " -> %" PRIx64, event->target);
	fputc('\n', out);
}

static void print_access(FILE *out, const struct rvt_access *access)
{
	const char *operation = rvt_access_operation_name(access->operation);

	fprintf(out, "access %s%s%s bytes=%u", rvt_access_kind_name(access->kind),
		*operation ? " " : "", operation, access->bytes);
	if (access->address_valid)
		fprintf(out, " address=%" PRIx64, access->address);
	if (access->operand_valid)
		fprintf(out, " operand=%" PRIx64, access->operand);
	if (access->value_valid)
		fprintf(out, " value=%" PRIx64, access->value);
	fprintf(out, "%s%s\n", access->error ? " error" : "", access->multiple ? " multiple" : "");
}

static int got_event(void *ctx, const struct rvt_event *event)
{
	struct output *output = ctx;
	struct check *check = output->check;
	const struct rvt_context *c = &event->context;

	if ((event->type == RVT_EVENT_TIME && !check->times) ||
	    (event->type == RVT_EVENT_CONTEXT && !check->contexts))
		return 0;
	begin_line(output);
	switch (event->type) {
	case RVT_EVENT_START:
		fprintf(output->out, "start %" PRIx64 "\n", event->pc);
		break;
	case RVT_EVENT_STOP:
		fprintf(output->out, "stop %s\n", reasons[event->reason]);
		break;
	case RVT_EVENT_TRAP:
		fprintf(output->out, "%s %" PRIx64 " -> %" PRIx64 "\n",
			event->interrupt ? "interrupt" : "exception", event->pc, event->target);
		break;
	case RVT_EVENT_CONTEXT:
		fputs("context", output->out);
		if (c->prv_valid)
			fprintf(output->out, " prv=%u v=%u", c->prv, c->v);
		if (c->scontext_valid)
			fprintf(output->out, " scontext=%" PRIx64, c->scontext);
		if (c->hcontext_valid)
			fprintf(output->out, " hcontext=%" PRIx64, c->hcontext);
		fputc('\n', output->out);
		break;
	case RVT_EVENT_TIME:
		fprintf(output->out, "time %" PRIu64 "%s\n", event->time,
			event->held_back ? " held back" : "");
		break;
	case RVT_EVENT_LOST:
		fprintf(output->out, "lost %s\n", reasons[event->reason]);
		break;
	case RVT_EVENT_MARK:
		print_mark(output->out, event);
		break;
	case RVT_EVENT_ACCESS:
		print_access(output->out, event->access);
		break;
	}
	return 0;
}

static struct rvt_flow *get_flow(void *ctx, unsigned int src)
{
	struct check *check = ctx;
	struct output *output = &check->outputs[src];
	struct rvt_flow_sink sink = { .size = sizeof(sink),
		.ctx = output, .runs = got_runs, .event = got_event };
	struct rvt_flow_config config = { .size = sizeof(config) };

	assert_true(src < MAX_SOURCES && !output->flow);
	output->check = check;
	output->src = src;
	output->out = open_memstream(&output->text, &output->size);
	rvt_stream_flow_config(&check->file->params, &config);
	config.reference_walk = check->reference_walk;
	assert_int_equal(rvt_flow_create(&config, &sink, &output->flow), 0);
	rvt_flow_set_space(output->flow, check->file->space);
	return output->flow;
}

static int got_framing(void *ctx, const struct rvt_event *event)
{
	struct check *check = ctx;

	fprintf(check->out, "framing %s\n", reasons[event->reason]);
	return 0;
}

/* Lines of pcs are joined, and "N x PC PC" is written out. */
static char *expand_flow(const char *text)
{
	char *copy = strdup(text), *save, *line, *result = NULL;
	bool in_pcs = false;
	size_t size;
	FILE *out = open_memstream(&result, &size);

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned int times = 1;
		int skip = 0;
		bool pcs;

		if (sscanf(line, "%u x %n", &times, &skip) == 1 && skip)
			line += skip;
		else
			times = 1;
		pcs = !strpbrk(line, ":-gijklmnopqrstuvwxyz");
		if (in_pcs && !pcs)
			fputc('\n', out);
		while (times--) {
			fprintf(out, "%s%s", in_pcs && pcs ? " " : "", line);
			in_pcs = pcs;
		}
		if (!pcs)
			fputc('\n', out);
	}
	if (in_pcs)
		fputc('\n', out);
	fclose(out);
	free(copy);
	return result;
}

static void finish_output(struct check *check, struct output *output)
{
	if (!output->flow)
		return;
	rvt_flow_destroy(output->flow);
	if (output->in_line)
		fputc('\n', output->out);
	fclose(output->out);
	fputs(output->text, check->out);
	free(output->text);
}

static void check_flow(const struct file *file, size_t piece, bool reference_walk)
{
	struct check *check = calloc(1, sizeof(*check));
	struct rvt_stream_ops ops = { .size = sizeof(ops),
				      .ctx = check, .flow = get_flow, .event = got_framing };
	char *text = NULL, *expected = expand_flow(file->expected_flow);
	struct target target = { 0 };
	size_t size;

	check->file = file;
	check->reference_walk = reference_walk;
	check->times = strstr(expected, "time ");
	check->contexts = strstr(expected, "context ");
	ops.accesses = strstr(expected, "access ");
	check->out = open_memstream(&text, &size);
	assert_int_equal(rvt_stream_create(&file->params, &ops, &target.stream), 0);
	feed(file, &target, piece);
	rvt_stream_destroy(target.stream);
	for (size_t i = 0; i < MAX_SOURCES; i++)
		finish_output(check, &check->outputs[i]);
	fclose(check->out);
	compare(file, reference_walk ? "flow (reference walk)" : "flow", piece, text, expected);
	free(expected);
	free(text);
	free(check);
}

static void test_file(void **state)
{
	static const size_t pieces[] = { MAX_TRACE, 1, 7 };
	struct file *file = read_file(*state);

	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		if (file->expected_dump)
			check_dump(file, pieces[i]);
		if (file->expected_flow) {
			check_flow(file, pieces[i], false);
			check_flow(file, pieces[i], true);
		}
	}
	free_file(file);
}

static int is_test(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 4 && !strcmp(entry->d_name + len - 4, set->suffix);
}

int run_trace_files(const struct trace_files *files, const char *filter)
{
	struct dirent **entries;
	struct CMUnitTest *tests;
	int n, ret;

	set = files;
	n = scandir(set->directory, &entries, is_test, alphasort);
	if (n <= 0) {
		fprintf(stderr, "%s: %s\n", set->directory, n ? strerror(errno) : "no tests");
		return 1;
	}
	tests = calloc(n, sizeof(*tests));
	for (int i = 0; i < n; i++) {
		tests[i].name = entries[i]->d_name;
		tests[i].test_func = test_file;
		tests[i].initial_state = entries[i]->d_name;
	}
	if (filter)
		cmocka_set_test_filter(filter);
	ret = _cmocka_run_group_tests(set->directory, tests, n, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	free(tests);
	return ret;
}

void write_trace_seeds(const struct trace_files *files, const char *directory)
{
	struct dirent **entries;
	int n;

	set = files;
	n = scandir(set->directory, &entries, is_test, alphasort);
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		struct file *file = read_file(entries[i]->d_name);
		const char *params = file->params_text ?: "";
		/* more than a byte can count: none */
		const uint8_t n_insns = file->n_insns > UINT8_MAX ? 0 : file->n_insns;
		char path[300];
		FILE *out;

		snprintf(path, sizeof(path), "%s/%s", directory, file->name);
		out = fopen(path, "w");
		assert_non_null(out);
		fwrite(params, 1, strlen(params) + 1, out);
		fwrite(&n_insns, 1, 1, out);
		fwrite(file->code, 1, n_insns ? file->code_len : 0, out);
		fwrite(file->trace, 1, file->len, out);
		assert_int_equal(fclose(out), 0);
		free_file(file);
		free(entries[i]);
	}
	free(entries);
}
