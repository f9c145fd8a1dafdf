// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace list`: the trace hardware of this machine and what it can do. */
#include <dirent.h>
#include <getopt.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cmd.h"
#include "common/color.h"
#include "common/json.h"
#include "common/text.h"
#include "record/missing.h"
#include "record/record.h"

#define PMU_DIR "/bus/event_source/devices/"
#define INDENT "    "

/* --json, and the object that is being printed. */
static bool as_json;
static struct json object;

/* Shows the file's lines, indented; nothing when it does not exist or is empty. */
static void show(const char *title, const char *dir, const char *file)
{
	char *text = read_text("%s/%s", dir, file), *rest = text, *line;
	bool first = true;

	if (as_json && text && *text)
		json_text(&object, title, text);
	while (!as_json && text && *text && (line = strsep(&rest, "\n"))) {
		printf(INDENT "%-22s %s\n", first ? title : "", line);
		first = false;
	}
	free(text);
}

static void show_title(const char *kind, const char *name)
{
	printf("%s%s%s%s\n", color_begin(COLOR_TITLE), kind, name, color_end(COLOR_TITLE));
}

static void begin_object(const char *type, const char *name)
{
	if (as_json) {
		object = json_begin(stdout, type);
		json_text(&object, "name", name);
	} else {
		show_title(strcmp(type, "pmu") ? "" : "PMU ", name);
	}
}

static void end_object(void)
{
	if (as_json)
		json_end(&object);
}

static void show_component(const char *dir)
{
	static const char *const files[] = { "cpu", "version", "protocol", "protocol_version",
		"features", "src_id", "src_bits", "timestamp_width", "timestamp_frequency",
		"sink_id", "access_bytes", "params" };

	begin_object("component", strrchr(dir, '/') + 1);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		show(files[i], dir, files[i]);
	end_object();
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void show_caps(const char *dir)
{
	struct dirent **names;
	char *caps;
	int n;

	if (asprintf(&caps, "%s/caps", dir) < 0)
		return;
	n = scandir(caps, &names, visible, alphasort);
	if (as_json)
		json_open(&object, "caps");
	for (int i = 0; i < n; i++) {
		show(names[i]->d_name, caps, names[i]->d_name);
		free(names[i]);
	}
	if (as_json)
		json_close(&object);
	if (n >= 0)
		free(names);
	free(caps);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pmu_term *)a)->name, ((const struct pmu_term *)b)->name);
}

static void show_term(const char *name, uint64_t max, bool only_zero)
{
	if (as_json) {
		json_open(&object, NULL);
		json_text(&object, "name", name);
		json_address(&object, "max", only_zero ? 0 : max);
		json_close(&object);
		return;
	}
	printf(INDENT INDENT "%-22s 0-%" PRIu64 "%s\n", name, max,
	       only_zero ? "  this hardware: only 0" : "");
}

static void show_terms(struct pmu *pmu, const char *name, const char *dir)
{
	char *features = read_text("%s/caps/features", dir);

	if (as_json)
		json_open_array(&object, "terms");
	else
		printf(INDENT "terms: -e %s/TERM=VALUE,.../\n", name);
	qsort(pmu->terms, pmu->n_terms, sizeof(*pmu->terms), by_name);
	for (unsigned int i = 0; i < pmu->n_terms; i++) {
		const struct pmu_term *term = &pmu->terms[i];
		int bits = __builtin_popcountll(term->bits);

		show_term(term->name, bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
			  features && record_is_feature(term->name) &&
			  !has_word(features, term->name));
	}
	if (as_json)
		json_close_array(&object);
	free(features);
}

/* Shows a PMU. Returns false if there is none of this name. */
static bool show_pmu(const char *sysfs, const char *name)
{
	struct pmu pmu;
	char *dir;

	if (pmu_read(&pmu, sysfs, name) || asprintf(&dir, "%s" PMU_DIR "%s", sysfs, name) < 0)
		return false;
	begin_object("pmu", name);
	show("cpus", dir, "cpumask");
	show_caps(dir);
	show_terms(&pmu, name, dir);
	end_object();
	free(dir);
	return true;
}

static void show_components(const char *sysfs)
{
	char *pattern;
	glob_t found;

	if (asprintf(&pattern, "%s/bus/rvtrace/devices/*", sysfs) < 0)
		return;
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			show_component(found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

static const char help[] =
"usage: perf rvtrace list [OPTIONS]\n"
"Shows the trace hardware of this machine and what it can do: the events' terms, and each trace\n"
"component that the driver has found.\n\n"
"      --sysfs DIR       a copy of another machine's /sys\n"
"      --json            an object a line (see Documentation/json.rst)\n"
COLOR_HELP;

enum { OPT_SYSFS = 256, OPT_COLOR, OPT_JSON };

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{ "sysfs", required_argument, NULL, OPT_SYSFS },
		{ "color", required_argument, NULL, OPT_COLOR },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *sysfs = NULL, *dir;
	bool trace, ctr;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == OPT_COLOR && color_set(optarg))
			return 1;
		if (c == OPT_JSON)
			as_json = true;
		else if (c == OPT_SYSFS)
			sysfs = optarg;
		else if (c != OPT_COLOR)
			return cmd_try_help(1);
	}
	if (cmd_first_word())
		return cmd_surplus(1, cmd_first_word(), "");
	if (as_json && json_supported())
		return 1;
	dir = sysfs ? sysfs : "/sys";
	trace = show_pmu(dir, RECORD_PMU);
	ctr = show_pmu(dir, RECORD_CTR_PMU);
	if (trace)
		show_components(dir);
	if (!ctr)
		record_tell_unused_ctr(dir);
	if (trace || ctr)
		return 0;
	if (sysfs) {
		cmd_error(0, "%s has neither the event " RECORD_PMU " nor " RECORD_CTR_PMU, sysfs);
		record_hint_at_dump(sysfs);
	} else {
		record_explain_missing_pmu();
	}
	return 1;
}
