// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Adds feature sections that say where and how a recording was made, and build ids of what it ran.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include "common/cmd.h"
#include "common/text.h"
#include "file/file.h"
#include "record/notes.h"
#include "record/record.h"

/*
 * MMAP2 as the kernel writes it; with PERF_RECORD_MISC_MMAP_BUILD_ID a build id replaces the inode.
 */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint8_t build_id_len, reserved[3];
	uint8_t build_id[20];
	uint32_t prot, flags;
	char name[];
};

struct pass {
	struct recorder *rec;
	void *seen;		/* tsearch tree of names */
	uint64_t first, last;	/* time of records */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool first_time(struct pass *pass, const char *name)
{
	char *copy = strdup(name), **found;

	found = copy ? tsearch(copy, &pass->seen, compare_names) : NULL;
	if (found && *found == copy)
		return true;
	free(copy);
	return false;
}

static void add_from_file(struct recorder *rec, const char *name, const char *path)
{
	struct stat st;
	int fd = rvt_file_open(path, 0, &st);
	const void *id;
	ssize_t len;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	len = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	if (len > 0)
		rvt_perfdata_add_build_id(rec->writer, name, id, len, PERF_RECORD_MISC_USER);
	elf_end(elf);
	close(fd);
}

static void add_mmap(struct pass *pass, const struct rvt_perfdata_record *record)
{
	const struct mmap2_record *map = (const void *)record->header;
	size_t fixed = sizeof(*map) - sizeof(map->header);

	if (record->body_len <= fixed || !(map->prot & PROT_EXEC) ||
	    strnlen(map->name, record->body_len - fixed) == record->body_len - fixed ||
	    map->name[0] != '/' || map->name[1] == '/' || !first_time(pass, map->name))
		return;
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		rvt_perfdata_add_build_id(pass->rec->writer, map->name, map->build_id,
					  map->build_id_len, PERF_RECORD_MISC_USER);
	else
		add_from_file(pass->rec, map->name, map->name);
}

static void add_from_notes(struct recorder *rec, const char *name, const char *path)
{
	uint8_t id[NOTES_ID_BYTES];
	size_t len = notes_build_id(path, id);

	if (len)
		rvt_perfdata_add_build_id(rec->writer, name, id, len, PERF_RECORD_MISC_KERNEL);
}

static void add_kernel_build_ids(struct recorder *rec)
{
	char *modules, *rest, *line;

	add_from_notes(rec, "[kernel.kallsyms]", NOTES_OF_KERNEL);
	modules = rest = read_text("/proc/modules");
	while ((line = strsep(&rest, "\n"))) {
		char name[80], path[160];

		line[strcspn(line, " ")] = 0;
		snprintf(name, sizeof(name), "[%.64s]", line);
		snprintf(path, sizeof(path), NOTES_OF_MODULE, line);
		add_from_notes(rec, name, path);
	}
	free(modules);
}

/* Scans the unfinished file for what it says about itself. */
static void scan_data(struct pass *pass)
{
	struct recorder *rec = pass->rec;
	struct rvt_perfdata_record record;
	struct rvt_perfdata *file;
	uint64_t pos = 0;
	char *error;

	if (rvt_perfdata_open(rec->path, &file, &error)) {
		free(error);
		return;
	}
	while (rvt_perfdata_next(file, &pos, &record) > 0) {
		const uint64_t *body = (const uint64_t *)(record.header + 1);

		if (record.time_valid && record.time) {
			if (!pass->first || record.time < pass->first)
				pass->first = record.time;
			if (record.time > pass->last)
				pass->last = record.time;
		}
		if (record.type == PERF_RECORD_MMAP2)
			add_mmap(pass, &record);
		else if (record.type == PERF_RECORD_LOST && record.body_len >= 16)
			rec->lost_records += body[1];
		else if (record.type == PERF_RECORD_SAMPLE)
			rec->trace_bytes += record.aux_len;
		else if (record.type == PERF_RECORD_AUX && record.body_len >= 24)
			rec->gaps += !!(body[2] & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL |
						   PERF_AUX_FLAG_COLLISION));
	}
	rvt_perfdata_close(file);
}

/* Adds the description of the fields of the recorded tracepoints. */
static int add_tracepoints(struct recorder *rec)
{
	void *data;
	size_t len;
	int err = tracepoint_data(rec->options.tracefs, &rec->options.extra, &data, &len);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = rvt_perfdata_add_feature(rec->writer, RVT_FEAT_TRACING_DATA, data, len);
	free(data);
	return err;
}

/*
 * Returns the value of @key of the first processor in /proc/cpuinfo, malloc'd; NULL: it has none.
 */
static char *cpuinfo(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && strspn(line + len, " \t:") > 0) {
			const char *value = line + len + strspn(line + len, " \t:");

			return strndup(value, strcspn(value, "\n"));
		}
	}
	return NULL;
}

/*
 * Adds perf's description of a RISC-V cpu: VENDOR-ARCHITECTURE-IMPLEMENTATION, and the instruction
 * set.
 */
static int add_cpu(struct recorder *rec)
{
	char *text = read_text("/proc/cpuinfo"), *id = NULL;
	char *vendor = cpuinfo(text, "mvendorid"), *arch = cpuinfo(text, "marchid");
	char *implementation = cpuinfo(text, "mimpid"), *isa = cpuinfo(text, "isa");
	int err = asprintf(&id, "%s-%s-%s", vendor ? vendor : "0x0", arch ? arch : "0x0",
			   implementation ? implementation : "0x0") < 0 ? -ENOMEM : 0;

	if (!err)
		err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_CPUID, id);
	if (!err)
		err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_CPUDESC, isa ? isa : "unknown");
	free(text);
	free(id);
	free(vendor);
	free(arch);
	free(implementation);
	free(isa);
	return err;
}

static int add_memory(struct recorder *rec)
{
	struct sysinfo info;
	uint64_t kib;

	if (sysinfo(&info))
		return 0;
	kib = (uint64_t)info.totalram * info.mem_unit / 1024;
	return rvt_perfdata_add_feature(rec->writer, RVT_FEAT_TOTAL_MEM, &kib, sizeof(kib));
}

int record_add_features(struct recorder *rec)
{
	struct pass pass = { .rec = rec };
	uint32_t cpus[2] = { sysconf(_SC_NPROCESSORS_CONF), sysconf(_SC_NPROCESSORS_ONLN) };
	struct utsname uts;
	uint64_t times[2];
	int err = 0;

	scan_data(&pass);
	tdestroy(pass.seen, free);
	if (!rec->trace_attr.exclude_kernel)
		add_kernel_build_ids(rec);
	if (!uname(&uts)) {
		err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_HOSTNAME, uts.nodename);
		if (!err)
			err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_OSRELEASE, uts.release);
		if (!err)
			err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_ARCH, uts.machine);
		if (!err)
			err = rvt_perfdata_add_string(rec->writer, RVT_FEAT_VERSION, uts.release);
	}
	if (!err)
		err = rvt_perfdata_add_feature(rec->writer, RVT_FEAT_NRCPUS, cpus, sizeof(cpus));
	if (!err)
		err = add_cpu(rec);
	if (!err)
		err = add_memory(rec);
	if (!err)
		err = rvt_perfdata_add_cmdline(rec->writer, rec->argv, rec->argc);
	if (!err)
		err = add_tracepoints(rec);
	times[0] = pass.first;
	times[1] = pass.last;
	if (!err && pass.last)
		err = rvt_perfdata_add_feature(rec->writer, RVT_FEAT_SAMPLE_TIME, times,
					       sizeof(times));
	return err;
}
