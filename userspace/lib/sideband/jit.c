// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code that a JIT compiler made, from its jitdump file (tools/perf/Documentation/
 * jitdump-specification.txt in the Linux tree). A program that writes one maps it, executable, so
 * that the mapping tells of it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "file/file.h"
#include "util/array.h"
#include "events.h"

#define JITDUMP_MAGIC 0x4a695444
#define JITDUMP_FLAG_ARCH_TIMESTAMP 1
#define MAX_NAME 512

enum { JIT_CODE_LOAD, JIT_CODE_MOVE };

struct jit_header {
	uint32_t magic, version, total_size, elf_mach, reserved, pid;
	uint64_t timestamp, flags;
};

struct jit_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct jit_load {
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
	/* then the name with its zero, then the code */
};

struct jit_move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, size, index;
};

struct jit_file {
	struct rvt_sideband *sideband;
	const uint8_t *bytes;
	size_t len;
	bool arch_time;
	uint64_t mapped;	/* when the program mapped it, perf's clock */
	int32_t pid;
	void *code;		/* tsearch() of struct jit_code by .addr */
};

/* The newest code at an address. */
struct jit_code {
	uint64_t addr;
	size_t event;		/* number in the sideband */
};

static int compare_code(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int keep_newest(struct jit_file *file, uint64_t addr, size_t event)
{
	struct jit_code key = { addr, event }, **found = tfind(&key, &file->code, compare_code);
	struct jit_code *code;

	if (found) {
		(*found)->event = event;
		return 0;
	}
	code = malloc(sizeof(*code));
	if (!code)
		return -ENOMEM;
	*code = key;
	if (tsearch(code, &file->code, compare_code))
		return 0;
	free(code);
	return -ENOMEM;
}

/* "jit-PID.dump" is what the specification calls it. */
bool rvt_sideband_is_jitdump(const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	if (strncmp(base, "jit-", 4) || !isdigit((unsigned char)base[4]))
		return false;
	base += 4;
	base += strspn(base, "0123456789");
	return !strcmp(base, ".dump");
}

/* A time stamp of the file on perf's clock; when that cannot be told, the time of the mapping. */
static uint64_t time_of(const struct jit_file *file, uint64_t timestamp)
{
	const struct rvt_sideband *sideband = file->sideband;

	if (file->arch_time)
		return sideband->has_time_conv ? rvt_time_to_perf(&sideband->time_conv, timestamp) :
			file->mapped;
	return sideband->monotonic_valid ? timestamp + sideband->monotonic_offset : file->mapped;
}

static int add_code(struct jit_file *file, uint64_t time, uint64_t addr, const uint8_t *code,
		    uint64_t size, const char *function)
{
	struct sideband_event event = { .type = SIDEBAND_JIT, .time = time, .pid = file->pid,
				     .tid = file->pid };
	char name[MAX_NAME];
	int err;

	snprintf(name, sizeof(name), "[jit]%s", function);
	event.jit.addr = addr;
	event.jit.len = size;
	event.jit.bytes = code;
	err = rvt_sideband_add_event(file->sideband, &event, name);
	return err ? err : keep_newest(file, addr, file->sideband->n_events - 1);
}

static int take_load(struct jit_file *file, const struct jit_record *record, const uint8_t *body,
		     size_t len)
{
	struct jit_load load;
	const char *name = (const char *)body + sizeof(load);
	size_t name_len;

	if (len < sizeof(load))
		return 0;
	memcpy(&load, body, sizeof(load));
	len -= sizeof(load);
	name_len = strnlen(name, len);
	if (name_len == len || load.size > len - name_len - 1)
		return 0;
	return add_code(file, time_of(file, record->timestamp), load.addr,
			(const uint8_t *)name + name_len + 1, load.size, name);
}

/* The newest code at the old address is at the new one from now on. */
static int take_move(struct jit_file *file, const struct jit_record *record, const uint8_t *body,
		     size_t len)
{
	struct jit_code key, **found;
	struct sideband_event event;
	struct jit_move move;

	if (len < sizeof(move))
		return 0;
	memcpy(&move, body, sizeof(move));
	key.addr = move.old_addr;
	found = tfind(&key, &file->code, compare_code);
	if (!found)
		return 0;
	event = *sideband_event(file->sideband, (*found)->event);
	return add_code(file, time_of(file, record->timestamp), move.new_addr, event.jit.bytes,
			event.jit.len, event.name + strlen("[jit]"));
}

/* Records up to the first that is damaged: a program may have been killed while it wrote. */
static int read_records(struct jit_file *file)
{
	struct jit_header header;
	size_t pos;
	int err = 0;

	if (file->len < sizeof(header))
		return 0;
	memcpy(&header, file->bytes, sizeof(header));
	if (header.magic != JITDUMP_MAGIC)
		return 0;
	file->arch_time = header.flags & JITDUMP_FLAG_ARCH_TIMESTAMP;
	for (pos = header.total_size; !err && pos < file->len &&
	     file->len - pos >= sizeof(struct jit_record); ) {
		const uint8_t *body = file->bytes + pos + sizeof(struct jit_record);
		struct jit_record record;

		memcpy(&record, file->bytes + pos, sizeof(record));
		if (record.total_size < sizeof(record) || record.total_size > file->len - pos)
			break;
		if (record.id == JIT_CODE_LOAD)
			err = take_load(file, &record, body, record.total_size - sizeof(record));
		else if (record.id == JIT_CODE_MOVE)
			err = take_move(file, &record, body, record.total_size - sizeof(record));
		pos += record.total_size;
	}
	return err;
}

int rvt_sideband_read_jitdump(struct rvt_sideband *sideband, const char *path, int32_t pid,
			      uint64_t mapped)
{
	struct jit_file file = { .sideband = sideband, .pid = pid, .mapped = mapped };
	struct rvt_mapped_file *dump;
	struct stat st;
	/* it lies where everybody may write: nobody's link is followed */
	int fd = rvt_file_open(path, O_NOFOLLOW, &st), err;

	if (fd < 0)
		return 0;
	err = rvt_file_map(fd, st.st_size, path, &dump);
	close(fd);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (array_grow(&sideband->jitdumps, sideband->n_jitdumps)) {
		rvt_file_unmap(dump);
		return -ENOMEM;
	}
	sideband->jitdumps[sideband->n_jitdumps++] = dump;
	file.bytes = dump->bytes;
	file.len = dump->len;
	err = read_records(&file);
	tdestroy(file.code, free);
	return err;
}
