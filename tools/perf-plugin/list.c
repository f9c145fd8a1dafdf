// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* `perf rvtrace list`: the trace hardware of this machine and what it can do. */
#include <dirent.h>
#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "record.h"

#define PMU_DIR "/sys/bus/event_source/devices/" RECORD_PMU
#define INDENT "    "

/* The file's lines, indented; nothing when it is not there or empty. */
static void show(const char *title, const char *dir, const char *file)
{
	char *text = read_text("%s/%s", dir, file), *rest = text, *line;
	bool first = true;

	while (text && *text && (line = strsep(&rest, "\n"))) {
		printf(INDENT "%-22s %s\n", first ? title : "", line);
		first = false;
	}
	free(text);
}

/* Discovery attributes of an E-Trace encoder, "name value ..." in one line. */
static void show_discovery(const char *dir)
{
	char *group, *value;
	struct dirent **names;
	int n;

	if (asprintf(&group, "%s/discovery", dir) < 0)
		return;
	n = scandir(group, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		value = names[i]->d_name[0] == '.' ? NULL :
			read_text("%s/%s", group, names[i]->d_name);
		if (value)
			printf(INDENT "%-22s %s %s\n", i == 2 ? "discovery" : "", names[i]->d_name,
			       value);
		free(value);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	free(group);
}

static void show_component(const char *dir)
{
	static const char *const files[] = { "cpu", "version", "protocol", "protocol_version",
		"features", "src_id", "src_bits", "timestamp_width", "timestamp_frequency",
			"sink_id",
		"access_bytes", "params" };

	printf("%s\n", strrchr(dir, '/') + 1);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		show(files[i], dir, files[i]);
	show_discovery(dir);
}

static void show_caps(void)
{
	struct dirent **names;
	int n = scandir(PMU_DIR "/caps", &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			show(names[i]->d_name, PMU_DIR "/caps", names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

static const char help[] =
"usage: perf rvtrace list\n"
"Shows the trace hardware of this machine and what it can do: the event's terms, and each trace\n"
"component that the driver has found.\n";

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	struct pmu pmu;
	glob_t found;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		if (c != 'h')
			return cmd_try_help(1);
		fputs(help, stdout);
		return 0;
	}
	if (cmd_first_word())
		return cmd_surplus(1, cmd_first_word(), "");
	if (pmu_read(&pmu, "/sys", RECORD_PMU)) {
		record_explain_missing_pmu();
		return 1;
	}
	printf("PMU " RECORD_PMU "\n");
	show("cpus", PMU_DIR, "cpumask");
	for (unsigned int i = 0; i < pmu.n_terms; i++)
		printf(INDENT "%-22s %s (%d bits)\n", i ? "" : "terms of the event",
		       pmu.terms[i].name,
		       __builtin_popcountll(pmu.terms[i].bits));
	show_caps();
	if (glob("/sys/bus/rvtrace/devices/*", 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++)
		show_component(found.gl_pathv[i]);
	globfree(&found);
	return 0;
}
