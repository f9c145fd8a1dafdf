// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes the page's data. Long lists are arrays of numbers, in base64 for the browser's typed
 * arrays (little-endian, as RISC-V and all machines that browsers run on); text is JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "common/disasm.h"
#include "common/srcline.h"
#include "html/html.h"

#ifdef HAVE_JSON
#include <json-c/json.h>

#define SMALL 100000		/* smaller parts of all instructions are shown together */
#define MAX_CODE 40		/* functions */
#define MAX_INSNS 30000		/* of all these functions */
#define MAX_LATENCY 300		/* functions */
#define BARS 4			/* in a histogram, for each power of two */

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	add(object, key, json_object_new_uint64(number));
}

/* ---- arrays of numbers ---- */

static struct json_object *base64(const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *in = bytes;
	size_t size = (len + 2) / 3 * 4;
	char *text = malloc(size + 1), *out = text;
	struct json_object *string;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t group = in[i] << 16 | (i + 1 < len ? in[i + 1] << 8 : 0) |
			(i + 2 < len ? in[i + 2] : 0);

		*out++ = digits[group >> 18];
		*out++ = digits[group >> 12 & 63];
		*out++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
		*out++ = i + 2 < len ? digits[group & 63] : '=';
	}
	string = json_object_new_string_len(text, size);
	free(text);
	return string;
}

/* An array of numbers of one type, filled one after another. */
struct column {
	const char *type;	/* of the browser's typed array */
	size_t size, n;
	uint8_t *bytes;
};

/* Makes a column. .bytes NULL: out of memory. */
static struct column new_column(const char *type, size_t size, size_t n)
{
	return (struct column){ type, size, 0, calloc(n + 1, size) };
}

static void put(struct column *column, const void *number)
{
	if (column->bytes)
		memcpy(column->bytes + column->n++ * column->size, number, column->size);
}

static void put_double(struct column *column, double number)
{
	put(column, &number);
}

static void put_float(struct column *column, float number)
{
	put(column, &number);
}

static void put_int(struct column *column, int32_t number)
{
	put(column, &number);
}

static void put_short(struct column *column, uint16_t number)
{
	put(column, &number);
}

static void put_byte(struct column *column, uint8_t number)
{
	put(column, &number);
}

/* Adds the column to @object, and frees it. */
static void add_column(struct json_object *object, const char *key, struct column *column)
{
	struct json_object *array = json_object_new_object();

	add_text(array, "type", column->type);
	add(array, "data", column->bytes ? base64(column->bytes, column->n * column->size) : NULL);
	add(object, key, array);
	free(column->bytes);
}

#define DOUBLES(n) new_column("Float64Array", sizeof(double), (n))
#define FLOATS(n) new_column("Float32Array", sizeof(float), (n))
#define INTS(n) new_column("Int32Array", sizeof(int32_t), (n))
#define SHORTS(n) new_column("Uint16Array", sizeof(uint16_t), (n))
#define BYTES(n) new_column("Uint8Array", sizeof(uint8_t), (n))

/* ---- parts ---- */

static struct json_object *losses_object(struct view *view)
{
	struct json_object *object = json_object_new_object();
	struct view_losses losses;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	add(object, "lost", json_object_new_boolean(view_losses(view, &losses)));
	add_number(object, "insns", losses.insns);
	add_number(object, "gaps", losses.gaps);
	if (out) {
		view_print_losses(view, out, "");
		fclose(out);
		add_text(object, "text", text);
		free(text);
	}
	return object;
}

/* Contexts, parents first: a node's parent has a smaller number; -1 at the root. */
struct tree_columns {
	struct json_object *names;	/* each once */
	struct json_object *numbers;	/* numbers of names, by name */
	struct column parent, name, kernel, insns, time, branches;
	int32_t n;
	const struct context *all;
};

static int32_t name_number(struct tree_columns *tree, const char *name)
{
	struct json_object *number;
	int32_t n = json_object_array_length(tree->names);

	if (json_object_object_get_ex(tree->numbers, name, &number))
		return json_object_get_int(number);
	json_object_object_add(tree->numbers, name, json_object_new_int(n));
	json_object_array_add(tree->names, json_object_new_string(name));
	return n;
}

static bool is_small(const struct tree_columns *tree, const struct context *node)
{
	return node->total < tree->all->total / SMALL &&
	       node->all.time < tree->all->all.time / SMALL;
}

static void put_row(struct tree_columns *tree, const char *name, const struct context *node,
		    int32_t parent)
{
	tree->n++;
	put_int(&tree->name, name_number(tree, name));
	put_int(&tree->parent, parent);
	put_byte(&tree->kernel, node->kernel);
	put_double(&tree->insns, node->self);
	put_float(&tree->time, node->own.time);
	put_double(&tree->branches, node->own.branches);
}

static void put_node(struct tree_columns *tree, const struct context *node, int32_t parent)
{
	struct context small = { .kernel = node->kernel };
	int32_t number = tree->n;
	char *label = NULL;

	/* the file distinguishes functions of one name */
	if (*node->dso && asprintf(&label, "%s (%s)", node->name, node->dso) < 0)
		label = NULL;
	put_row(tree, label ? label : node->name, node, parent);
	free(label);
	for (const struct context *child = node->child; child; child = child->sibling) {
		if (!is_small(tree, child)) {
			put_node(tree, child, number);
			continue;
		}
		small.self += child->total;
		small.own.time += child->all.time;
		small.own.branches += child->all.branches;
	}
	if (small.self || small.own.branches)
		put_row(tree, "[all smaller ones]", &small, number);
}

static struct json_object *tree_object(const struct contexts *contexts)
{
	struct json_object *object = json_object_new_object();
	size_t n = 0;
	struct tree_columns tree;

	for (const struct context *node = &contexts->root; node;
	     node = context_next(&contexts->root, node))
		/* the context, and the small ones below it */
		n += 2;
	tree = (struct tree_columns){
		.all = &contexts->root,
		.names = json_object_new_array(), .numbers = json_object_new_object(),
		.parent = INTS(n), .name = INTS(n), .kernel = BYTES(n), .insns = DOUBLES(n),
		.time = FLOATS(n), .branches = DOUBLES(n) };
	for (const struct context *child = contexts->root.child; child; child = child->sibling)
		put_node(&tree, child, -1);
	json_object_put(tree.numbers);
	add(object, "names", tree.names);
	add_column(object, "name", &tree.name);
	add_column(object, "parent", &tree.parent);
	add_column(object, "kernel", &tree.kernel);
	add_column(object, "insns", &tree.insns);
	add_column(object, "time", &tree.time);
	add_column(object, "branches", &tree.branches);
	return object;
}

static int compare_calls(const void *a, const void *b)
{
	const struct html_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->began < y->began ? -1 : x->began > y->began;
}

static struct json_object *calls_object(struct html_data *data)
{
	struct json_object *object = json_object_new_object();
	size_t n = data->n_calls;
	struct column began = DOUBLES(n), time = FLOATS(n), thread = INTS(n), function = INTS(n),
		depth = SHORTS(n), partial = BYTES(n);

	if (n)
		qsort(data->calls, n, sizeof(*data->calls), compare_calls);
	for (size_t i = 0; i < n; i++) {
		put_double(&began, data->calls[i].began);
		put_float(&time, data->calls[i].time);
		put_int(&thread, data->calls[i].thread);
		put_int(&function, data->calls[i].function);
		put_short(&depth, data->calls[i].depth);
		put_byte(&partial, data->calls[i].partial);
	}
	add_column(object, "began", &began);
	add_column(object, "time", &time);
	add_column(object, "thread", &thread);
	add_column(object, "function", &function);
	add_column(object, "depth", &depth);
	add_column(object, "partial", &partial);
	add_number(object, "shortest", data->shortest);
	add_number(object, "leftOut", data->left_out);
	return object;
}

static int compare_turns(const void *a, const void *b)
{
	const struct html_turn *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->began < y->began ? -1 : x->began > y->began;
}

static struct json_object *turns_object(struct html_data *data)
{
	struct json_object *object = json_object_new_object();
	size_t n = data->n_turns;
	struct column began = DOUBLES(n), time = DOUBLES(n), cpu = INTS(n), thread = INTS(n);

	if (n)
		qsort(data->turns, n, sizeof(*data->turns), compare_turns);
	for (size_t i = 0; i < n; i++) {
		put_double(&began, data->turns[i].began);
		put_double(&time, data->turns[i].time);
		put_int(&cpu, data->turns[i].cpu);
		put_int(&thread, data->turns[i].thread);
	}
	add_column(object, "began", &began);
	add_column(object, "time", &time);
	add_column(object, "cpu", &cpu);
	add_column(object, "thread", &thread);
	return object;
}

static struct json_object *texts(const char *const *list, size_t n)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, json_object_new_string(list[i]));
	return array;
}

static struct json_object *timeline_object(struct html_data *data)
{
	struct json_object *object = json_object_new_object();
	struct json_object *threads = json_object_new_array(), *marks = json_object_new_array();
	struct json_object *kernel = json_object_new_array();

	for (size_t i = 0; i < data->n_threads; i++) {
		struct json_object *thread = json_object_new_object();

		add_text(thread, "comm", data->threads[i].comm);
		add(thread, "pid", json_object_new_int(data->threads[i].pid));
		add(thread, "tid", json_object_new_int(data->threads[i].tid));
		json_object_array_add(threads, thread);
	}
	for (size_t i = 0; i < data->n_marks; i++) {
		struct json_object *mark = json_object_new_object();

		add(mark, "time", json_object_new_double(data->marks[i].time));
		add(mark, "cpu", json_object_new_int(data->marks[i].cpu));
		add_text(mark, "text", data->marks[i].text);
		json_object_array_add(marks, mark);
	}
	for (size_t i = 0; i < data->n_functions; i++)
		json_object_array_add(kernel, json_object_new_int(data->kernel[i]));
	add(object, "threads", threads);
	add(object, "marks", marks);
	add(object, "names", texts(data->functions, data->n_functions));
	add(object, "dsos", texts(data->dsos, data->n_functions));
	add(object, "kernel", kernel);
	add(object, "calls", calls_object(data));
	add(object, "turns", turns_object(data));
	add_number(object, "first", data->first);
	add_number(object, "length", data->last - data->first);
	return object;
}

static struct json_object *rows_object(const struct html_options *html)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < html->n_rows; i++) {
		const struct html_row *row = &html->rows[i];
		struct json_object *object = json_object_new_object();

		add_text(object, "comm", row->comm);
		add_text(object, "dso", row->dso);
		add_text(object, "sym", row->symbol);
		add(object, "kernel", json_object_new_boolean(row->kernel));
		add_number(object, "insns", row->insns);
		add_number(object, "branches", row->branches);
		add_number(object, "entered", row->entered);
		json_object_array_add(array, object);
	}
	return array;
}

/* ---- code ---- */

struct code_writer {
	struct disasm *disasm;
	struct srclines *srclines;
	struct sources *sources;
};

static struct json_object *insn_object(const struct code_writer *writer,
				       const struct code_function *function,
				       const struct code_insn *insn)
{
	const struct place place = code_place(function, insn);
	struct json_object *object = json_object_new_object();
	const char *text, *file, *source;
	char taken[16];
	uint64_t target;
	int line;

	snprintf(taken, sizeof(taken), "%llx", (unsigned long long)place.vaddr);
	add_text(object, "addr", taken);
	add_number(object, "count", insn->count);
	add_text(object, "taken", code_taken(insn, taken));
	add_number(object, "time", insn->time);
	if (writer->disasm) {
		disasm_text(writer->disasm, function->bytes + insn->offset, insn->len, place.vaddr,
			    &text, &target);
		add_text(object, "text", text);
	}
	if (srclines_find(writer->srclines, &place, &file, &line)) {
		source = sources_line(writer->sources, file, line);
		add_text(object, "file", file);
		add(object, "line", json_object_new_int(line));
		if (source)
			add_text(object, "source", source);
	}
	return object;
}

static struct json_object *function_object(const struct code_writer *writer,
					   const struct code_function *function)
{
	struct json_object *object = json_object_new_object();
	struct json_object *insns = json_object_new_array();

	add_text(object, "sym", function->name);
	add_text(object, "dso", function->dso);
	add_number(object, "insns", function->count);
	add_number(object, "time", function->time);
	add_number(object, "entered", function->entered);
	for (size_t i = 0; i < function->n; i++)
		json_object_array_add(insns, insn_object(writer, function, &function->insns[i]));
	add(object, "code", insns);
	return object;
}

static struct json_object *code_object(const struct code *code,
				       const struct rvt_session_options *options)
{
	struct json_object *array = json_object_new_array();
	const struct code_writer writer = {
		.disasm = disasm_create(),
		.srclines = srclines_create(options->symfs, options->vmlinux),
		.sources = sources_create(options->symfs),
	};
	size_t insns = 0;

	for (size_t i = 0; i < code->n && i < MAX_CODE && writer.srclines && writer.sources; i++) {
		if (!code->list[i]->count || insns + code->list[i]->n > MAX_INSNS)
			continue;
		insns += code->list[i]->n;
		json_object_array_add(array, function_object(&writer, code->list[i]));
	}
	disasm_destroy(writer.disasm);
	srclines_destroy(writer.srclines);
	sources_destroy(writer.sources);
	return array;
}

/* ---- latency ---- */

/* Returns an array of pairs: lower end of the bar, and number. */
static struct json_object *bars_object(const struct histogram *calls)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int bar = 0; bar < 63 * BARS; bar++) {
		uint64_t power = UINT64_C(1) << bar / BARS, step = power / BARS ? power / BARS : 1;
		uint64_t from = bar ? power + step * (bar % BARS) : 0;
		uint64_t to = power + step * (bar % BARS + 1);
		uint64_t n = from >= 2 * power ? 0 : histogram_between(calls, from, to);

		if (from > calls->max)
			break;
		if (!n)
			continue;
		json_object_array_add(array, json_object_new_uint64(from));
		json_object_array_add(array, json_object_new_uint64(n));
	}
	return array;
}

static struct json_object *latency_object(struct latency *latency)
{
	struct json_object *array = json_object_new_array();
	enum latency_measure rank = latency_rank(latency);

	latency_sort(latency);
	for (size_t i = 0; i < latency->n && i < MAX_LATENCY; i++) {
		const struct latency_function *function = latency->list[i];
		const struct histogram *calls = &function->calls[rank];
		struct json_object *object;

		if (!calls->n)
			continue;
		object = json_object_new_object();
		add_text(object, "sym", function->name);
		add_text(object, "dso", function->dso);
		add_number(object, "calls", calls->n);
		add_number(object, "tail", latency_tail(latency, function));
		add_number(object, "p50", histogram_percentile(calls, 50, NULL));
		add_number(object, "p90", histogram_percentile(calls, 90, NULL));
		add_number(object, "p99", histogram_percentile(calls, 99, NULL));
		add_number(object, "p999", histogram_percentile(calls, 99.9, NULL));
		add_number(object, "max", calls->max);
		add(object, "bars", bars_object(calls));
		json_object_array_add(array, object);
	}
	return array;
}

int html_write_data(const struct html_options *html, struct html_data *data,
		    struct html_data *before, const struct view_options *options, FILE *out)
{
	struct json_object *page = json_object_new_object();
	const char *text;

	add_text(page, "input", options->input ? options->input : "perf.data");
	add(page, "timed", json_object_new_boolean(data->timed));
	add(page, "losses", losses_object(data->view));
	add_number(page, "insns", data->contexts.root.total);
	add(page, "rows", rows_object(html));
	add(page, "tree", tree_object(&data->contexts));
	if (before)
		add(page, "before", tree_object(&before->contexts));
	if (data->timed)
		add(page, "timeline", timeline_object(data));
	add(page, "code", code_object(&data->code, &options->session));
	add(page, "latency", latency_object(&data->latency));
	/* slashes are escaped, so that a "</script>" in the data does not end the script */
	text = json_object_to_json_string_ext(page, JSON_C_TO_STRING_PLAIN);
	if (text)
		fputs(text, out);
	json_object_put(page);
	return text ? 0 : -ENOMEM;
}
#else
int html_write_data(const struct html_options *html, struct html_data *data,
		    struct html_data *before, const struct view_options *options, FILE *out)
{
	(void)html, (void)data, (void)before, (void)options, (void)out;
	return -ENOTSUP;
}
#endif
