// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace report`: how many instructions each function executed, counted, not sampled. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/color.h"
#include "common/contexts.h"
#include "common/json.h"
#include "common/pager.h"
#include "ctr/ctr.h"
#include "common/output.h"
#include "html/html.h"
#include "report/graph.h"
#include "report/rows.h"
#include "common/text.h"
#include "common/view.h"

static const struct {
	const char *name, *title;
	int width;
} sort_keys[SORT_KEYS] = {
	[SORT_COMM] = { "comm", "Command", 16 },
	[SORT_PID] = { "pid", "Pid", 7 },
	[SORT_TID] = { "tid", "Tid", 7 },
	[SORT_CPU] = { "cpu", "CPU", 3 },
	[SORT_DSO] = { "dso", "Shared Object", 24 },
	[SORT_SYM] = { "sym", "Symbol", 0 },
	[SORT_SRCLINE] = { "srcline", "Source:Line", 0 },
};

struct report {
	unsigned int keys;	/* bit per enum sort_key */
	struct view *view;
	struct rows *rows;
	struct srclines *srclines;	/* NULL: not sorted by lines */
	double percent_limit;
	uint64_t max_lines;
	bool json;		/* rows are objects */
	bool sorted;		/* .keys were given */
	const char *html, *before;	/* the page, and what it is compared with; NULL: none */
	bool by_calls;		/* .graph is what to print, not a table */
	struct graph_options graph;
};

static const char help[] =
"usage: perf rvtrace report [OPTIONS]\n"
"Counts the instructions of every function: exactly, from the trace.\n\n"
"  -s, --sort LIST       comm, pid, tid, cpu, dso, sym, srcline (comm,dso,sym)\n"
"  -g, --call-graph[=caller|callee]  who called whom, from the thread down or from each\n"
"                        function up\n"
"  -S, --symbols LIST, -d, --dsos LIST  only these functions, files\n"
"      --json            an object a line (see Documentation/json.rst)\n"
"      --html FILE       a page for browsers: flame graph, timeline, functions, code, latency\n"
"      --before FILE     a recording that the page's flame graph is compared with\n"
"      --percent-limit P leave out what is below P percent\n"
"      --max-lines N     only the first N\n"
"      --no-pager        print to the terminal itself; --stdio, --no-children: for perf's sake\n"
COLOR_HELP
VIEW_JOBS_HELP
VIEW_HELP
VIEW_INDEX_HELP;

enum { OPT_STDIO = 256, OPT_COLOR, OPT_LIMIT, OPT_MAX, OPT_JOBS, OPT_JSON,
       OPT_HTML, OPT_BEFORE, OPT_NO_PAGER };

static const struct option long_options[] = {
	{ "sort", required_argument, NULL, 's' },
	{ "call-graph", optional_argument, NULL, 'g' },
	{ "symbols", required_argument, NULL, 'S' },
	{ "dsos", required_argument, NULL, 'd' },
	{ "stdio", no_argument, NULL, OPT_STDIO },
	{ "no-children", no_argument, NULL, OPT_STDIO },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "show-nr-samples", no_argument, NULL, 'n' },
	{ "force", no_argument, NULL, 'f' },
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "percent-limit", required_argument, NULL, OPT_LIMIT },
	{ "max-lines", required_argument, NULL, OPT_MAX },
	{ "jobs", required_argument, NULL, OPT_JOBS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "before", required_argument, NULL, OPT_BEFORE },
	{ "help", no_argument, NULL, 'h' },
	VIEW_LONG_OPTIONS,
	VIEW_INDEX_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int compare_counts(const void *a, const void *b)
{
	const struct row *const *x = a, *const *y = b;

	if ((*x)->insns != (*y)->insns)
		return (*x)->insns < (*y)->insns ? 1 : -1;
	return rows_compare(*x, *y);
}

static void print_key(const struct row *row, enum sort_key key)
{
	int width = sort_keys[key].width;

	switch (key) {
	case SORT_COMM: printf("  %-*s", width, row->comm); break;
	case SORT_PID: printf("  %*d", width, row->pid); break;
	case SORT_TID: printf("  %*d", width, row->tid); break;
	case SORT_CPU: printf("  %0*d", width, row->cpu); break;
	case SORT_DSO:
		printf("  %-*s", width, strrchr(row->dso, '/') ? strrchr(row->dso, '/') + 1 :
		       row->dso);
		break;
	case SORT_SRCLINE:
		if (row->line)
			printf("  %s:%d", row->file, row->line);
		else
			printf("  %s", row->file);
		break;
	default:
		printf("  [%c] %s", row->privilege == 'k' ? 'k' : '.', row->symbol);
	}
}

static bool row_wanted(const struct report *report, const struct row *row)
{
	const struct graph_options *filter = &report->graph;

	return (!filter->symbols || view_in_names(filter->symbols, row->symbol)) &&
		(!filter->dsos || view_in_files(filter->dsos, row->dso));
}

static void json_key(struct json *json, const struct row *row, enum sort_key key)
{
	switch (key) {
	case SORT_COMM: json_text(json, "comm", row->comm); break;
	case SORT_PID: json_number(json, "pid", row->pid); break;
	case SORT_TID: json_number(json, "tid", row->tid); break;
	case SORT_CPU: json_number(json, "cpu", row->cpu); break;
	case SORT_DSO: json_text(json, "dso", row->dso); break;
	case SORT_SRCLINE:
		json_text(json, "file", row->file);
		json_number(json, "line", row->line);
		break;
	default:
		json_text(json, "sym", row->symbol);
		json_flag(json, "kernel", row->privilege == 'k');
	}
}

static void json_row(const struct report *report, const struct row *row, double percent)
{
	struct json json = json_begin(stdout, "row");

	json_real(&json, "percent", percent);
	json_number(&json, "insns", row->insns);
	json_number(&json, "branches", row->branches);
	json_number(&json, "entered", row->calls);
	for (int key = 0; key < SORT_KEYS; key++)
		if (report->keys & 1u << key)
			json_key(&json, row, key);
	json_end(&json);
}

static void print_row(const struct report *report, const struct row *row, double percent)
{
	enum color color = color_of_percent(percent);

	printf("   %s%6.2f%%%s %16" PRIu64 " %13" PRIu64 " %13" PRIu64, color_begin(color),
	       percent, color_end(color), row->insns, row->branches, row->calls);
	for (int key = 0; key < SORT_KEYS; key++)
		if (report->keys & 1u << key)
			print_key(row, key);
	putchar('\n');
}

static void print_head(struct report *report)
{
	printf("# %" PRIu64 " instructions executed, counted from the trace\n",
	       report->rows->insns);
	view_print_losses(report->view, stdout, "# ");
	puts("#");
	printf("# Overhead     Instructions      Branches       Entered");
	for (int key = 0; key < SORT_KEYS; key++)
		if (report->keys & 1u << key)
			printf("  %-*s", sort_keys[key].width, sort_keys[key].title);
	printf("\n# ........ ................ ............. .............");
	for (int key = 0; key < SORT_KEYS; key++)
		if (report->keys & 1u << key)
			printf("  %.*s", sort_keys[key].width ? sort_keys[key].width : 24,
			       "................................");
	printf("\n#\n");
}

static void sort_rows(struct rows *rows)
{
	if (rows->n)
		qsort(rows->list, rows->n, sizeof(*rows->list), compare_counts);
}

static void print_report(struct report *report)
{
	const struct rows *rows = report->rows;
	uint64_t lines = 0;
	bool any = false;

	if (report->json)
		view_json_losses(report->view, stdout);
	else
		print_head(report);
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *row = rows->list[i];
		double percent = rows->insns ? 100.0 * row->insns / rows->insns : 0;

		if (!row->insns || !row_wanted(report, row))
			continue;
		any = true;
		if (percent < report->percent_limit ||
		    (report->max_lines && lines++ >= report->max_lines))
			break;
		if (report->json)
			json_row(report, row, percent);
		else
			print_row(report, row, percent);
	}
	if ((report->graph.symbols || report->graph.dsos) && !any)
		view_warn_no_function();
}

static int parse_keys(const char *text, unsigned int *keys)
{
	char *copy = strdup(text), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	*keys = 0;
	while (!err && (word = strsep(&rest, ","))) {
		int key = 0;

		while (key < SORT_KEYS && strcmp(sort_keys[key].name, word))
			key++;
		if (key == SORT_KEYS && strcmp(word, "symbol"))
			err = cmd_error(-EINVAL, "cannot sort by '%s'; keys: comm, pid, tid, cpu, "
						 "dso, sym, srcline",
					word);
		*keys |= 1u << (key == SORT_KEYS ? SORT_SYM : key);
	}
	free(copy);
	return err;
}

static int run_graph(struct report *report)
{
	struct places *places = places_create(view_session(report->view));
	uint64_t errors = 0;
	int err;

	if (!places)
		return -ENOMEM;
	report->graph.percent_limit = report->percent_limit;
	report->graph.max_lines = report->max_lines;
	err = report_graph(report->view, places, &report->graph, &errors);
	places_destroy(places);
	return err ? cmd_error(err, "decoding ended: %s", strerror(-err)) :
		view_summary(report->view, errors);
}

/* Returns whether perf's -g takes @word, for a choice that we do not have. */
static bool is_perfs_word(const char *word)
{
	static const char *const words[] = {
		"graph", "fractal", "flat", "folded", "function", "address", "percent", "period",
		"count",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/*
 * Parses "caller", "callee", or "graph,0.5,caller" as perf does: a number is the limit in percent.
 */
static int parse_graph(struct report *report, const char *text)
{
	char *copy = strdup(text ? text : "caller"), *rest = copy, *word;
	int err = copy ? 0 : -ENOMEM;

	report->by_calls = true;
	report->graph.order = GRAPH_CALLER;
	while (!err && (word = strsep(&rest, ","))) {
		const char *end = word;
		double limit;

		if (!read_decimal(&end, &limit) && !*end)
			report->percent_limit = limit;
		else if (!strcmp(word, "callee"))
			report->graph.order = GRAPH_CALLEE;
		else if (strcmp(word, "caller") && !is_perfs_word(word))
			err = cmd_error(-EINVAL, "-g takes caller or callee, not '%s'", text);
	}
	free(copy);
	return err;
}

/* Writes the page, with the lines of the table. */
static int write_html(struct report *report, const struct view_options *options)
{
	const struct rows *rows = report->rows;
	struct html_row *lines = calloc(rows->n + 1, sizeof(*lines));
	struct html_options html = { .before = report->before, .rows = lines };
	struct output_file file;
	FILE *out = lines ? output_open(&file, report->html) : NULL;
	int err = out ? 0 : -ENOMEM;

	for (size_t i = 0; lines && i < rows->n; i++) {
		const struct row *row = rows->list[i];

		if (row->insns && row_wanted(report, row))
			lines[html.n_rows++] = (struct html_row){ row->comm, row->dso, row->symbol,
				row->privilege == 'k', row->insns, row->branches, row->calls };
	}
	if (!err)
		err = output_close(&file, out, html_write(&html, options, out));
	free(lines);
	return err;
}

/*
 * Counts: each thread in rows of its own, unless lines of the source tell them apart. Where times
 * choose what is counted, and an index tells where that is, one thread counts it in slices.
 */
static int count(struct report *report, const struct view_options *options)
{
	const bool counts = options->session.count;
	const struct rvt_session_slices slices = {
		.ctx = report->rows, .open = rows_open, .reset = rows_forget,
	};
	const struct rvt_session_sink sink = {
		.size = sizeof(sink),
		.ctx = report->rows, .event = rows_event, .warning = view_warning,
		.runs = counts ? NULL : rows_count_runs, .count_run = rows_count_run,
		.reset = rows_forget, .events = 1u << RVT_EVENT_LOST,
	};
	bool in_parts;
	int err;

	if (counts)
		in_parts = !report->srclines;
	else
		in_parts = !view_has_triggers(report->view) &&
			   view_use_index(report->view, NULL, NULL);
	if (!in_parts)
		return view_run(report->view, &sink, false);
	err = view_run_slices(report->view, &sink, &slices, false);
	if (!counts)
		/* the summary has these losses; .errors does not, as none passes the filters */
		view_skipped_losses(report->view);
	return err ? err : rows_join(report->rows);
}

static int report_ctr(struct report *report)
{
	const char *refused = report->json ? "--json" : report->html ? "--html" :
		report->by_calls ? "-g" : report->sorted ? "--sort" :
		report->graph.symbols ? "--symbols" : report->graph.dsos ? "--dsos" :
		report->percent_limit > 0 ? "--percent-limit" : NULL;

	return ctr_refuse(refused) ? -EINVAL : ctr_report(report->view, report->max_lines);
}

static int run(struct report *report, const struct view_options *options)
{
	int err;

	report->view = view_open(options);
	if (!report->view)
		return -EINVAL;
	if (rvt_session_is_ctr(view_session(report->view)))
		return report_ctr(report);
	if (report->by_calls)
		return run_graph(report);
	if (report->keys & 1u << SORT_SRCLINE) {
		report->srclines = srclines_create(options->session.symfs,
						   options->session.vmlinux);
		if (!report->srclines)
			return -ENOMEM;
	}
	report->rows = rows_create(report->view, report->keys, report->srclines);
	if (!report->rows)
		return -ENOMEM;
	err = count(report, options);
	if (err)
		return cmd_error(err, "decoding ended: %s", strerror(-err));
	sort_rows(report->rows);
	if (report->html) {
		err = write_html(report, options);
	} else {
		if (!report->graph.no_pager)
			pager_begin();
		print_report(report);
	}
	if (err)
		return err;
	return view_summary(report->view, report->rows->errors);
}

/* Checks that the options ask for one thing: a table that -s sorts, a tree, or a page. */
static int check_options(const struct report *report)
{
	const bool sorted = report->sorted;

	if (report->html && (report->by_calls || sorted || report->json))
		return cmd_error(-EINVAL, "--html has all of that: give no -g, -s or --json");
	if (report->before && !report->html)
		return cmd_error(-EINVAL, "--before is for --html");
	if (report->by_calls && sorted)
		return cmd_error(-EINVAL, "-s chooses the columns of a table and -g prints a tree "
				 "of calls: give one of them");
	return 0;
}

/* What the options say, while they are parsed. */
struct report_options {
	struct report *report;
	struct view_options *view;
	const char *jobs;
	char **argv;
};

static int take_graph(struct report_options *options, const char *argument)
{
	/* getopt takes "-g callee", which perf allows, as two words; no recording follows -g */
	if (!argument && options->argv[optind] && options->argv[optind][0] != '-')
		argument = options->argv[optind++];
	options->view->session.by_cpu = false;
	return parse_graph(options->report, argument);
}

static int take_option(void *ctx, int c, const char *argument)
{
	struct report_options *options = ctx;
	struct report *report = options->report;

	switch (c) {
	case 's': report->sorted = true; return parse_keys(argument, &report->keys);
	case 'g': return take_graph(options, argument);
	case 'S': report->graph.symbols = argument; return 0;
	case 'd': report->graph.dsos = argument; return 0;
	case OPT_STDIO: case 'n': return 0;
	case OPT_NO_PAGER: report->graph.no_pager = true; return 0;
	case OPT_COLOR: return color_set(argument);
	case OPT_JOBS: options->jobs = argument; return 0;
	case OPT_HTML: report->html = argument; return 0;
	case OPT_BEFORE: report->before = argument; return 0;
	case OPT_JSON: report->json = report->graph.json = true; return 0;
	case OPT_LIMIT: return cmd_decimal("--percent-limit", argument, &report->percent_limit);
	case OPT_MAX: return cmd_number("--max-lines", argument, 0, UINT64_MAX, &report->max_lines);
	default: return VIEW_NOT_MINE;
	}
}

/* Returns 0, -errno after a message, or 1 if only the help was asked for. */
static int parse_options(struct report *report, struct view_options *options, int argc, char **argv)
{
	struct report_options wanted = { .report = report, .view = options, .argv = argv };
	const struct view_command command = { help, "hfns:g::S:d:" VIEW_SHORT_OPTIONS, long_options,
					      take_option, &wanted };
	int err = view_parse(&command, options, argc, argv);

	if (!err && report->json)
		err = json_supported();
	if (!err)
		err = check_options(report);
	return err ? err : cmd_jobs(wanted.jobs, &options->session.jobs);
}

static void free_report(struct report *report)
{
	rows_destroy(report->rows);
	srclines_destroy(report->srclines);
	view_close(report->view);
}

int cmd_report(int argc, char **argv)
{
	struct view_options options = { .session.by_cpu = true };
	struct report report = { .keys = 1u << SORT_COMM | 1u << SORT_DSO | 1u << SORT_SYM };
	int err = parse_options(&report, &options, argc, argv);

	if (err)
		return err > 0 ? 0 : 1;
	/* a filter needs the key that it filters by */
	if (report.graph.symbols)
		report.keys |= 1u << SORT_SYM;
	if (report.graph.dsos)
		report.keys |= 1u << SORT_DSO;
	/* counted flow has no times and no order */
	options.session.count = !options.time && !report.by_calls;
	report.graph.jobs = options.session.jobs;
	if (report.by_calls)
		options.session.slice_bytes = CONTEXTS_SLICE_BYTES;
	if (!options.session.count && !report.by_calls)
		options.session.jobs = 1;
	options.session.count_threads = options.tids || report.keys & 1u << SORT_TID;
	options.session.count_names = !options.pids && !(report.keys & 1u << SORT_PID);
	err = run(&report, &options);
	free_report(&report);
	return err ? 1 : 0;
}
