// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Copies code of programs that is in no file and existed before the recording: as samples like
 * those of user-code.c's programs, of time 0, behind the record of the mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/user-code.h>
#include "record/tasks.h"
#include "bpf/snapshot.h"

#define PAGE RVT_USER_CODE_MAX

/* PERF_RECORD_SAMPLE of RECORD_SAMPLE_TYPE and PERF_SAMPLE_RAW. */
struct page_sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint32_t raw_len;
	uint8_t raw[sizeof(struct rvt_user_code) + PAGE];
	uint8_t pad[4];
} __attribute__((packed));

/* Returns whether the mapping @name is in no file, and not known by other means. */
static bool is_in_no_file(const char *name)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(name), end = strlen(deleted);

	if (!strcmp(name, "[vdso]") || !strcmp(name, "[uprobes]"))
		return false;
	return *name != '/' || !strncmp(name, "//anon", 6) ||
		(len > end && !strcmp(name + len - end, deleted));
}

static int put_page(struct recorder *rec, pid_t pid, uint64_t addr, const uint8_t *bytes)
{
	const struct rvt_user_code code = { RVT_USER_CODE_COMES, PAGE, addr, pid, 0 };
	struct page_sample sample = {
		.header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample) },
		.id = rec->user_code.event.ids[0], .ip = addr, .pid = pid, .tid = pid,
		.raw_len = sizeof(sample.raw) + sizeof(sample.pad),
	};

	memcpy(sample.raw, &code, sizeof(code));
	memcpy(sample.raw + sizeof(code), bytes, PAGE);
	return rvt_perfdata_write(rec->writer, &sample, sizeof(sample));
}

int record_put_pages(struct recorder *rec, const struct snapshot_map *map)
{
	uint8_t bytes[PAGE];
	char path[32];
	int fd, err = 0;

	if (!rec->user_code.event.n_ids || !is_in_no_file(map->name))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/mem", map->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;	/* has ended */
	for (uint64_t addr = map->start; addr < map->end && !err; addr += PAGE) {
		if (rec->user_pages_bytes + PAGE > rec->options.copy_bytes)
			break;
		if (pread(fd, bytes, PAGE, addr) != PAGE)
			continue;
		rec->user_pages_bytes += PAGE;
		err = put_page(rec, map->pid, addr, bytes);
	}
	close(fd);
	return err;
}
