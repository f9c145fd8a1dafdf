// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/array.h"
#include "common/lost-code.h"
#include "common/text.h"

#define SHOWN 5

struct lost_mapping {
	char *mapping, *comm;
	uint64_t times;
};

struct lost_code {
	pthread_mutex_t lock;
	struct lost_mapping *mappings;
	size_t n;
};

struct lost_code *lost_code_create(void)
{
	struct lost_code *lost = calloc(1, sizeof(*lost));

	if (lost)
		pthread_mutex_init(&lost->lock, NULL);
	return lost;
}

void lost_code_clear(struct lost_code *lost)
{
	for (size_t i = 0; i < lost->n; i++) {
		free(lost->mappings[i].mapping);
		free(lost->mappings[i].comm);
	}
	lost->n = 0;
}

void lost_code_destroy(struct lost_code *lost)
{
	if (!lost)
		return;
	lost_code_clear(lost);
	pthread_mutex_destroy(&lost->lock);
	free(lost->mappings);
	free(lost);
}

/* Returns whether a mapping is anonymous memory or memfd, by perf's names; others are files. */
static bool is_in_no_file(const char *mapping)
{
	return mapping[0] != '/' || mapping[1] == '/' || !strncmp(mapping, "/memfd:", 7) ||
	       !strncmp(mapping, "/dev/zero", 9) || !strncmp(mapping, "/SYSV", 5);
}

static void count(struct lost_code *lost, const char *mapping, const char *comm)
{
	struct lost_mapping found = { .times = 1 };

	for (size_t i = 0; i < lost->n; i++)
		if (!strcmp(lost->mappings[i].mapping, mapping) &&
		    !strcmp(lost->mappings[i].comm, comm)) {
			lost->mappings[i].times++;
			return;
		}
	if (array_grow(&lost->mappings, lost->n))
		return;
	found.mapping = strdup(mapping);
	found.comm = strdup(comm);
	if (found.mapping && found.comm) {
		lost->mappings[lost->n++] = found;
	} else {
		free(found.mapping);
		free(found.comm);
	}
}

void lost_code_add(struct lost_code *lost, const struct rvt_hart_flow *hart, uint64_t pc)
{
	struct rvt_location location;

	if ((int64_t)pc < 0 || !hart->space || rvt_space_locate(hart->space, pc, &location) ||
	    !location.path || !is_in_no_file(location.path))
		return;
	pthread_mutex_lock(&lost->lock);
	count(lost, location.path, hart->task ? hart->task->comm : "");
	pthread_mutex_unlock(&lost->lock);
}

static int compare_mappings(const void *a, const void *b)
{
	const struct lost_mapping *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return strcmp(x->mapping, y->mapping);
}

void lost_code_print(const struct lost_code *lost)
{
	if (!lost->n)
		return;
	qsort(lost->mappings, lost->n, sizeof(*lost->mappings), compare_mappings);
	for (size_t i = 0; i < lost->n && i < SHOWN; i++) {
		fprintf(stderr, "  %" PRIu64 " times in ", lost->mappings[i].times);
		put_visible(stderr, lost->mappings[i].mapping);
		fputs(" of ", stderr);
		put_visible(stderr, lost->mappings[i].comm);
		fputc('\n', stderr);
	}
	if (lost->n > SHOWN)
		fprintf(stderr, "  ... and %zu more\n", lost->n - SHOWN);
	fputs("  That code is in no file. Record as root, without --copy-code=never, so that it is "
	      "copied; or let a JIT compiler\n  write a jitdump: node --perf-prof, java "
	      "-agentpath:.../libperf-jvmti.so, DOTNET_PerfEnabled=1 for .NET\n", stderr);
}
