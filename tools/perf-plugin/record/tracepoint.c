// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The kernel's tracepoints: their numbers, and the layout of their fields in a sample, by tracefs.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "util/array.h"
#include "record/event.h"
#include "common/pmu.h"
#include "common/text.h"

#define DATA_MAGIC "\027\010\104tracing"	/* as in trace-cmd's files: trace-cmd.dat(5) */
#define DATA_VERSION "0.6"

const char *tracefs_find(void)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[64];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/events", folders[i]);
		/* it exists, though this user may not read it: the message says which */
		if (!access(path, F_OK) || errno == EACCES)
			return folders[i];
	}
	return mount("tracefs", folders[0], "tracefs", 0, NULL) ? NULL : folders[0];
}

static int add(struct event_list *list, const char *tracefs, const char *path,
	       const struct perf_event_attr *attr)
{
	struct event *event;
	const char *point = path + strlen(tracefs) + strlen("/events/");
	char *id = read_text("%s", path);

	if (!id)
		return 0;
	if (array_grow(&list->events, list->n)) {
		free(id);
		return -ENOMEM;
	}
	event = &list->events[list->n];
	*event = (struct event){ .attr = *attr };
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config = strtoull(id, NULL, 0);
	free(id);
	event->tracepoint = strndup(point, strlen(point) - strlen("/id"));
	event->name = event->tracepoint ? strdup(event->tracepoint) : NULL;
	if (!event->name) {
		free(event->tracepoint);
		return -ENOMEM;
	}
	*strchr(event->name, '/') = ':';
	list->n++;
	return 0;
}

static int explain_absent(const char *tracefs, const char *system, const char *name, char **error)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", tracefs);
	if (access(path, R_OK | X_OK))
		return pmu_invalid(error, "%s:%s: %s may not be read (%s): tracepoints need root",
				   system, name, path, strerror(errno));
	return pmu_invalid(error, "there is no tracepoint '%s:%s'; ls %s/%s shows which there are "
			   "(those of a module while it is loaded)", system, name, path,
			   strpbrk(system, "*?[") ? "" : system);
}

int tracepoint_add(const char *tracefs, const char *system, const char *name,
		   const struct perf_event_attr *attr, struct event_list *list, char **error)
{
	size_t before = list->n;
	glob_t found;
	char *pattern;
	int err = 0;

	if (!tracefs)
		return pmu_invalid(error, "%s:%s: tracefs is not mounted: mount -t tracefs tracefs "
				   "/sys/kernel/tracing", system, name);
	if (!*system || !*name || strpbrk(system, "/.") || strpbrk(name, "/."))
		return pmu_invalid(error, "'%s:%s' is no name of a tracepoint", system, name);
	if (asprintf(&pattern, "%s/events/%s/%s/id", tracefs, system, name) < 0)
		return -ENOMEM;
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc && !err; i++)
			err = add(list, tracefs, found.gl_pathv[i], attr);
		globfree(&found);
	}
	free(pattern);
	return err || list->n > before ? err : explain_absent(tracefs, system, name, error);
}

/*
 * ---- HEADER_TRACING_DATA: numbers in the byte order of the machine, files behind their length
 * ----
 */

static void put_u32(FILE *out, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

/* Writes a file behind its length of @length_bytes; a file that does not exist is empty. */
static int put_file(FILE *out, unsigned int length_bytes, const char *tracefs, const char *name)
{
	uint64_t len = 0, read_len;
	char *text = NULL, path[512], buffer[4096];
	FILE *copy = open_memstream(&text, &read_len), *in;
	size_t n;

	if (!copy)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/%s", tracefs, name);
	in = fopen(path, "re");
	while (in && (n = fread(buffer, 1, sizeof(buffer), in)))
		fwrite(buffer, 1, n, copy);
	if (in)
		fclose(in);
	if (fclose(copy))
		return -ENOMEM;
	len = read_len;
	fwrite(&len, length_bytes, 1, out);
	fwrite(text, 1, len, out);
	free(text);
	return 0;
}

static int put_named_file(FILE *out, const char *tracefs, const char *file)
{
	fwrite(strrchr(file, '/') + 1, 1, strlen(strrchr(file, '/')), out);
	return put_file(out, 8, tracefs, file);
}

static size_t system_length(const char *tracepoint)
{
	return strcspn(tracepoint, "/");
}

static bool same_system(const struct event *a, const struct event *b)
{
	size_t len = system_length(a->tracepoint);

	return b->tracepoint && len == system_length(b->tracepoint) &&
		!strncmp(a->tracepoint, b->tracepoint, len);
}

/* Returns whether an event before number @n is of the same system. */
static bool was_before(const struct event_list *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (same_system(&list->events[n], &list->events[i]))
			return true;
	return false;
}

/* Writes a system's name and the formats of its tracepoints, of which number @n is the first. */
static int put_system(FILE *out, const char *tracefs, const struct event_list *list, size_t n)
{
	const char *name = list->events[n].tracepoint;
	uint32_t count = 0;
	int err = 0;

	fwrite(name, 1, system_length(name), out);
	fputc(0, out);
	for (size_t i = n; i < list->n; i++)
		count += same_system(&list->events[n], &list->events[i]);
	put_u32(out, count);
	for (size_t i = n; i < list->n && !err; i++) {
		char file[256];

		if (!same_system(&list->events[n], &list->events[i]))
			continue;
		snprintf(file, sizeof(file), "events/%s/format", list->events[i].tracepoint);
		err = put_file(out, 8, tracefs, file);
	}
	return err;
}

static int put_systems(FILE *out, const char *tracefs, const struct event_list *list)
{
	uint32_t systems = 0;
	int err = 0;

	for (size_t i = 0; i < list->n; i++)
		systems += list->events[i].tracepoint && !was_before(list, i);
	put_u32(out, systems);
	for (size_t i = 0; i < list->n && !err; i++)
		if (list->events[i].tracepoint && !was_before(list, i))
			err = put_system(out, tracefs, list, i);
	return err;
}

static int put_all(FILE *out, const char *tracefs, const struct event_list *list)
{
	const uint16_t one = 1;
	const uint8_t big_endian = !*(const uint8_t *)&one, long_bytes = sizeof(long);
	int err;

	fwrite(DATA_MAGIC, 1, strlen(DATA_MAGIC), out);
	fwrite(DATA_VERSION, 1, sizeof(DATA_VERSION), out);
	fputc(big_endian, out);
	fputc(long_bytes, out);
	put_u32(out, sysconf(_SC_PAGESIZE));
	err = put_named_file(out, tracefs, "events/header_page");
	if (!err)
		err = put_named_file(out, tracefs, "events/header_event");
	put_u32(out, 0);	/* formats of ftrace's own, which no event of perf has */
	if (!err)
		err = put_systems(out, tracefs, list);
	put_u32(out, 0);	/* kallsyms, which perf.data has elsewhere */
	if (!err)
		err = put_file(out, 4, tracefs, "printk_formats");
	if (!err)
		err = put_file(out, 8, tracefs, "saved_cmdlines");
	return err;
}

int tracepoint_data(const char *tracefs, const struct event_list *list, void **data, size_t *len)
{
	char *bytes = NULL;
	bool any = false;
	FILE *out;
	int err;

	for (size_t i = 0; i < list->n; i++)
		any |= !!list->events[i].tracepoint;
	if (!any || !tracefs)
		return -ENOENT;
	out = open_memstream(&bytes, len);
	if (!out)
		return -ENOMEM;
	err = put_all(out, tracefs, list);
	if (fclose(out))
		err = -ENOMEM;
	if (err) {
		free(bytes);
		return err;
	}
	*data = bytes;
	return 0;
}
