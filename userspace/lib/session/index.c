// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What an index has, and what it must fit to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rvtrace/version.h>
#include "perfdata/reader.h"
#include "index-state.h"

#define HEAD 4096	/* bytes of the recording */
#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

char *rvt_index_path(const char *recording)
{
	char *path;

	return asprintf(&path, "%s.rvtrace-index", recording) < 0 ? NULL : path;
}

/* FNV-1a. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ byte[i]) * FNV_PRIME;
	return hash;
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
	return add_bytes(hash, &number, sizeof(number));
}

/* The zero at its end included; NULL is another text than "". */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return text ? add_bytes(hash, text, strlen(text) + 1) : add_number(hash, 0);
}

static uint64_t file_time(const struct stat *st)
{
	return st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;
}

/* Its name, and which version it is. */
static uint64_t add_file(uint64_t hash, const char *path)
{
	struct stat st;

	hash = add_text(hash, path);
	if (!path || stat(path, &st))
		return hash;
	return add_number(add_number(hash, st.st_size), file_time(&st));
}

/* Other code, or none: other flow. */
static uint64_t hash_code(const struct rvt_session *session)
{
	const struct rvt_session_options *options = &session->options;
	uint64_t hash = add_number(FNV_BASIS, RVT_VERSION);
	const char *path;

	hash = add_text(hash, options->symfs);
	hash = add_file(hash, options->vmlinux);
	hash = add_file(hash, options->kcore);
	hash = add_file(hash, options->firmware);
	hash = add_file(hash, options->guest_vmlinux);
	hash = add_file(hash, options->params);
	for (size_t n = 0; (path = rvt_sideband_file(session->sideband, n)); n++)
		hash = add_file(hash, path);
	return hash;
}

int rvt_index_key(const struct rvt_session *session, struct index_key *key)
{
	const char *path = rvt_perfdata_path(session->file);
	char head[HEAD];
	struct stat st;
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return -errno;
	len = fread(head, 1, sizeof(head), file);
	fclose(file);
	if (stat(path, &st))
		return -errno;
	*key = (struct index_key){ .size = st.st_size, .mtime = file_time(&st),
				   .head = add_bytes(FNV_BASIS, head, len),
				   .code = hash_code(session) };
	return 0;
}

static void free_segments(struct rvt_index *index)
{
	for (size_t i = 0; i < index->n_segments; i++) {
		free((void *)index->segments[i].told.tasks);
		free((void *)index->segments[i].told.granules);
	}
	free(index->segments);
}

void rvt_index_free(struct rvt_index *index)
{
	if (!index)
		return;
	free_segments(index);
	rvt_index_free_stations(index->stations, index->n_stations);
	for (size_t i = 0; i < index->n_tasks; i++)
		free((void *)index->tasks[i].comm);
	for (size_t i = 0; i < index->n_paths; i++)
		free(index->paths[i]);
	for (size_t i = 0; i < index->n_missing; i++)
		free(index->missing[i].path);
	free(index->tasks);
	free(index->paths);
	free(index->granules);
	free(index->missing);
	free(index);
}

size_t rvt_index_n_segments(const struct rvt_index *index)
{
	return index->n_segments;
}

const struct rvt_index_segment *rvt_index_segment(const struct rvt_index *index, size_t n)
{
	return &index->segments[n].told;
}

size_t rvt_index_n_tasks(const struct rvt_index *index)
{
	return index->n_tasks;
}

const struct rvt_index_task *rvt_index_task(const struct rvt_index *index, size_t n)
{
	return &index->tasks[n];
}

size_t rvt_index_n_granules(const struct rvt_index *index)
{
	return index->n_granules;
}

const struct rvt_index_granule *rvt_index_granule(const struct rvt_index *index, size_t n)
{
	return &index->granules[n];
}

uint64_t rvt_index_granule_size(const struct rvt_index *index)
{
	return index->shift ? 1ull << index->shift : 0;
}
