// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Collects sideband records. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rvtrace/kernel-code.h>
#include <rvtrace/switches.h>
#include <rvtrace/user-code.h>
#include "file/file.h"
#include "util/array.h"
#include "util/sized.h"
#include "image/image.h"
#include "events.h"

#define FORGET_AT_ONCE 4096	/* events */

/* Bodies of the records, as uapi/linux/perf_event.h describes them. */
struct comm_body {
	uint32_t pid, tid;
	char comm[];
};

struct fork_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct mmap_head {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
};

struct mmap_body {
	struct mmap_head head;
	char name[];
};

struct mmap2_body {
	struct mmap_head head;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_len, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	char name[];
};

/* The string at @offset of the record's body; NULL when it does not end inside it. */
static const char *body_string(const struct rvt_perfdata_record *record, size_t offset)
{
	const char *text = (const char *)(record->header + 1) + offset;

	if (offset >= record->body_len ||
	    strnlen(text, record->body_len - offset) == record->body_len - offset)
		return NULL;
	return text;
}

static int add_comm(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	const struct comm_body *body = (const void *)(record->header + 1);
	const char *comm = body_string(record, sizeof(*body));
	struct sideband_event event = { .type = SIDEBAND_COMM };

	if (!comm)
		return 0;
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC) {
		event.type = SIDEBAND_EXEC;
		event.on.cpu = record->cpu_valid ? record->cpu : -1;
	}
	event.pid = body->pid;
	event.tid = body->tid;
	return rvt_sideband_add_record_event(sideband, record, &event, comm);
}

/* PERF_RECORD_FORK and PERF_RECORD_EXIT have the same form. */
static int add_life(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record,
		    enum sideband_event_type type)
{
	const struct fork_body *body = (const void *)(record->header + 1);
	struct sideband_event event = { .type = type };

	if (record->body_len < sizeof(*body))
		return 0;
	event.pid = body->pid;
	event.tid = body->tid;
	event.parent.pid = body->ppid;
	event.parent.tid = body->ptid;
	return rvt_sideband_add_record_event(sideband, record, &event, NULL);
}

/* The rest of @event is there; @name may be NULL. */
static int add_mapping(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record,
		       const struct mmap_head *head, struct sideband_event *event, const char *name)
{
	/* The kernel's own mappings come with its code. */
	if (!name || (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return 0;
	event->type = SIDEBAND_MMAP;
	event->pid = head->pid;
	event->tid = head->tid;
	event->map.addr = head->addr;
	event->map.len = head->len;
	event->map.offset = head->pgoff;
	return rvt_sideband_add_record_event(sideband, record, event, name);
}

static int add_mmap(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	const struct mmap_body *body = (const void *)(record->header + 1);
	struct sideband_event event = { 0 };

	if (record->misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	return add_mapping(sideband, record, &body->head, &event, body_string(record,
									      sizeof(*body)));
}

static int add_mmap2(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	const struct mmap2_body *body = (const void *)(record->header + 1);
	const char *name = body_string(record, sizeof(*body));
	struct sideband_event event = { 0 };

	if (!name || !(body->prot & PROT_EXEC))
		return 0;
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    body->build_id_len <= sizeof(body->build_id)) {
		event.map.build_id_len = body->build_id_len;
		memcpy(event.map.build_id, body->build_id, body->build_id_len);
	}
	return add_mapping(sideband, record, &body->head, &event, name);
}

/* Only BPF programs of the recorder tell of owners. */
static int add_sample(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	if (!record->event)
		return 0;
	if (!strcmp(record->event->name, RVT_KERNEL_CODE_EVENT))
		return rvt_sideband_add_code(sideband, record);
	if (!strcmp(record->event->name, RVT_SWITCH_EVENT))
		return rvt_sideband_add_switch_sample(sideband, record);
	if (!strcmp(record->event->name, RVT_USER_CODE_EVENT))
		return rvt_sideband_add_copy(sideband, record);
	return 0;
}

int rvt_sideband_add(struct rvt_sideband *sideband, const struct rvt_perfdata_record *record)
{
	switch (record->type) {
	case PERF_RECORD_COMM:
		return add_comm(sideband, record);
	case PERF_RECORD_FORK:
		return add_life(sideband, record, SIDEBAND_FORK);
	case PERF_RECORD_EXIT:
		return add_life(sideband, record, SIDEBAND_EXIT);
	case PERF_RECORD_MMAP:
		return add_mmap(sideband, record);
	case PERF_RECORD_MMAP2:
		return add_mmap2(sideband, record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return rvt_sideband_add_switch(sideband, record);
	case PERF_RECORD_TEXT_POKE:
		return rvt_sideband_add_poke(sideband, record);
	case PERF_RECORD_SAMPLE:
		return add_sample(sideband, record);
	case PERF_RECORD_ITRACE_START:
		return rvt_sideband_add_itrace_start(sideband, record);
	default:
		return 0;
	}
}

static int compare_events(const void *a, const void *b)
{
	const struct sideband_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* For tdestroy(): the entries live on in an array. */
static void keep(void *entry)
{
	(void)entry;
}

/* Mappings whose name is no file: //anon, [heap], /memfd:NAME, anon_inode:... */
static bool is_file(const char *name)
{
	return name[0] == '/' && name[1] != '/' && strncmp(name, "/memfd:", 7) &&
		strncmp(name, "/dev/zero", 9) && strncmp(name, "/SYSV", 5);
}

/* The file @name in the first directory of @symfs that has it. NULL: none has, or no memory. */
static char *find_in_symfs(const char *symfs, const char *name)
{
	for (const char *dir = symfs; *dir; ) {
		size_t len = strcspn(dir, ":");
		char *root = strndup(dir, len), *path = NULL;
		int err = root ? rvt_file_find(root, name, &path) : -ENOMEM;

		free(root);
		if (!err && !access(path, R_OK))
			return path;
		free(path);
		dir += len + (dir[len] == ':');
	}
	return NULL;
}

/* The same in a directory that `perf buildid-cache` has made: .build-id/ab/cdef.../elf. */
static char *find_by_id(const char *symfs, const struct sideband_path *file)
{
	char name[sizeof("/.build-id//elf") + 2 * sizeof(file->build_id)] = "/.build-id/";
	char *end = name + strlen(name);

	if (!file->build_id_len)
		return NULL;
	for (size_t i = 0; i < file->build_id_len; i++)
		end += sprintf(end, "%02x%s", file->build_id[i], i ? "" : "/");
	strcpy(end, "/elf");
	return find_in_symfs(symfs, name);
}

/*
 * @symfs is one or several directories; the first whose file exists counts. No name and no link
 * leads out of it. 0 or -ENOMEM.
 */
static int find_file(const char *symfs, struct sideband_path *file)
{
	if (!symfs) {
		file->path = strdup(file->name);
		return file->path ? 0 : -ENOMEM;
	}
	file->path = find_by_id(symfs, file);
	if (!file->path)
		file->path = find_in_symfs(symfs, file->name);
	if (!file->path)
		file->path = find_in_symfs(symfs, strrchr(file->name, '/'));
	if (file->path)
		return 0;
	if (asprintf(&file->path, "%.*s%s", (int)strcspn(symfs, ":"), symfs, file->name) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	file->outside = !access(file->path, F_OK);
	return 0;
}

static int compare_by_name(const void *a, const void *b)
{
	const struct sideband_path *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->build_id_len != y->build_id_len)
		return x->build_id_len < y->build_id_len ? -1 : 1;
	return memcmp(x->build_id, y->build_id, x->build_id_len);
}

static int compare_by_path(const void *a, const void *b)
{
	const struct sideband_path *const *x = a, *const *y = b;
	int order = strcmp((*x)->path, (*y)->path);

	return order ? order : strcmp((*x)->name, (*y)->name);
}

/* As the mapping says, or the recording of all mappings of that name. */
static void set_build_id(const struct rvt_sideband *sideband, const struct sideband_event *event,
			 struct sideband_path *path)
{
	const uint8_t *id = event->map.build_id;
	size_t len = event->map.build_id_len;

	if (!len && sideband->file)
		len = rvt_perfdata_build_id(sideband->file, event->name, &id);
	path->build_id_len = len <= sizeof(path->build_id) ? len : 0;
	memcpy(path->build_id, id, path->build_id_len);
}

static struct sideband_path *get_path(struct rvt_sideband *sideband,
				      const struct sideband_event *event)
{
	struct sideband_path key = { .name = event->name }, **found, *path;

	if (sideband->symfs)
		set_build_id(sideband, event, &key);
	found = tfind(&key, &sideband->files, compare_by_name);
	if (found)
		return *found;
	path = calloc(1, sizeof(*path));
	if (!path || array_grow(&sideband->paths, sideband->n_paths)) {
		free(path);
		return NULL;
	}
	sideband->paths[sideband->n_paths++] = path;
	*path = key;
	return !find_file(sideband->symfs, path) &&
	       tsearch(path, &sideband->files, compare_by_name) ? path : NULL;
}

/*
 * Looks once for each file that the events [@from, @to) name; names are interned, so that their
 * addresses tell them apart.
 */
static int find_files(struct rvt_sideband *sideband, size_t from, size_t to)
{
	size_t known = sideband->n_paths;

	for (size_t i = from; i < to; i++) {
		struct sideband_event *event = sideband_event(sideband, i);

		if (event->type != SIDEBAND_MMAP || !is_file(event->name))
			continue;
		event->map.file = get_path(sideband, event);
		if (!event->map.file)
			return -ENOMEM;
	}
	if (sideband->n_paths != known)
		qsort(sideband->paths, sideband->n_paths, sizeof(*sideband->paths),
		      compare_by_path);
	return 0;
}

void rvt_sideband_set_clock(struct rvt_sideband *sideband, const struct rvt_record_time_conv *conv,
			    const int64_t *monotonic_offset)
{
	sideband->has_time_conv = conv;
	if (conv)
		sideband->time_conv = *conv;
	sideband->monotonic_valid = monotonic_offset;
	if (monotonic_offset)
		sideband->monotonic_offset = *monotonic_offset;
}

/* Every program's dump once, though it may have mapped it several times. */
static int read_jitdumps(struct rvt_sideband *sideband)
{
	size_t n = sideband->n_events;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct sideband_event event = sideband->events[i];

		if (event.type != SIDEBAND_MMAP || !event.map.file || event.map.file->outside ||
		    event.map.file->was_read || !rvt_sideband_is_jitdump(event.name))
			continue;
		event.map.file->was_read = true;
		err = rvt_sideband_read_jitdump(sideband, event.map.file->path, event.pid,
						event.time);
	}
	return err;
}

/*
 * Events from .ready on into the order of time; those up to @until, which cannot get company, are
 * ready.
 */
static int make_ready(struct rvt_sideband *sideband, uint64_t until)
{
	size_t from = sideband->ready;
	int err;

	if (from == sideband->n_events)
		return 0;
	err = rvt_sideband_time_copies(sideband, from);
	if (err)
		return err;
	qsort(sideband_event(sideband, from), sideband->n_events - from, sizeof(*sideband->events),
	      compare_events);
	while (sideband->ready < sideband->n_events &&
	       sideband_event(sideband, sideband->ready)->time <= until)
		sideband->ready++;
	err = rvt_sideband_share_copies(sideband, from, sideband->ready);
	return err ? err : rvt_sideband_list_changes(sideband, from, sideband->ready);
}

int rvt_sideband_sort(struct rvt_sideband *sideband)
{
	int err = find_files(sideband, 0, sideband->n_events);

	if (!err)
		err = read_jitdumps(sideband);
	return err ? err : make_ready(sideband, UINT64_MAX);
}

int rvt_sideband_go_on(struct rvt_sideband *sideband, uint64_t until)
{
	size_t from = sideband->ready;
	int err = make_ready(sideband, until);

	return err ? err : find_files(sideband, from, sideband->ready);
}

void rvt_sideband_forget(struct rvt_sideband *sideband, size_t position)
{
	size_t n = position - sideband->first;

	/* seldom, so that moving the rest costs little */
	if (n < FORGET_AT_ONCE)
		return;
	rvt_sideband_forget_copies(sideband, sideband->first, position);
	memmove(sideband->events, sideband->events + n,
		(sideband->n_events - position) * sizeof(*sideband->events));
	sideband->first = position;
}

const char *rvt_sideband_recorded_name(const struct rvt_sideband *sideband, const char *path)
{
	size_t low = 0, high = sideband->n_paths;

	/* a store has one file for all names of a build: the first one counts */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(sideband->paths[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sideband->n_paths && !strcmp(sideband->paths[low]->path, path) ?
		sideband->paths[low]->name : path;
}

const char *rvt_sideband_file(const struct rvt_sideband *sideband, size_t n)
{
	return n < sideband->n_paths ? sideband->paths[n]->path : NULL;
}

static char *copy_option(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

int rvt_sideband_create(const struct rvt_sideband_options *from, struct rvt_sideband **result)
{
	struct rvt_sideband_options options;
	struct rvt_sideband *sideband;
	bool failed = false;

	*result = NULL;
	if (sized_copy(&options, sizeof(options), from))
		return -EINVAL;
	sideband = calloc(1, sizeof(*sideband));
	if (!sideband)
		return -ENOMEM;
	sideband->symfs = copy_option(options.symfs, &failed);
	sideband->vmlinux = copy_option(options.vmlinux, &failed);
	sideband->kcore = copy_option(options.kcore, &failed);
	sideband->firmware = copy_option(options.firmware, &failed);
	if (failed) {
		rvt_sideband_destroy(sideband);
		return -ENOMEM;
	}
	*result = sideband;
	return 0;
}

void rvt_sideband_destroy(struct rvt_sideband *sideband)
{
	if (!sideband)
		return;
	while (sideband->kernels) {
		struct sideband_kernel *next = sideband->kernels->next;

		free(sideband->kernels);
		sideband->kernels = next;
	}
	for (size_t i = 0; i < sideband->n_paths; i++) {
		free(sideband->paths[i]->path);
		free(sideband->paths[i]);
	}
	free(sideband->paths);
	tdestroy(sideband->files, keep);
	tdestroy(sideband->names, free);
	rvt_sideband_free_changes(sideband);
	rvt_sideband_free_copies(sideband);
	for (size_t i = 0; i < sideband->n_jitdumps; i++)
		rvt_file_unmap(sideband->jitdumps[i]);
	free(sideband->jitdumps);
	free(sideband->events);
	rvt_code_close(sideband->code);
	free(sideband->symfs);
	free(sideband->vmlinux);
	free(sideband->kcore);
	free(sideband->firmware);
	free(sideband);
}

int rvt_sideband_add_file(struct rvt_sideband *sideband, struct rvt_perfdata *file)
{
	sideband->file = file;
	return sideband->code ? 0 : rvt_perfdata_code(file, &sideband->code);
}

/* The first code of @kind that was recorded; NULL: none. */
static const struct rvt_code *find_code(const struct rvt_sideband *sideband,
					enum rvt_code_kind kind)
{
	size_t n;
	const struct rvt_code *code = rvt_code_list(sideband->code, &n);

	for (size_t i = 0; i < n; i++)
		if (code[i].kind == kind)
			return &code[i];
	return NULL;
}

bool rvt_sideband_has_kernel(const struct rvt_sideband *sideband)
{
	return sideband->vmlinux || sideband->kcore || find_code(sideband, RVT_CODE_KERNEL);
}

const struct rvt_code *rvt_sideband_mapped(const struct rvt_sideband *sideband,
					   enum rvt_code_kind kind)
{
	const struct rvt_code *code = find_code(sideband, kind);

	return code && rvt_code_need(sideband->code, code->bytes,
				     code->len) == code->len ? code : NULL;
}

const struct rvt_code *rvt_sideband_vdso(const struct rvt_sideband *sideband)
{
	return rvt_sideband_mapped(sideband, RVT_CODE_VDSO);
}

/* Code of programs, not of the kernel. */
static bool is_mapped(const struct rvt_code *code)
{
	return code->kind == RVT_CODE_VDSO || code->kind == RVT_CODE_UPROBES;
}

/* What was recorded; not the kernel itself, if that @is_given. */
static int map_code(struct rvt_sideband *sideband, struct rvt_space *kernel, bool is_given)
{
	size_t n;
	const struct rvt_code *code = rvt_code_list(sideband->code, &n);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct rvt_lent lent = {
			code[i].bytes, code[i].len, rvt_code_need, sideband->code,
		};

		if (!is_mapped(&code[i]) && !(is_given && code[i].kind == RVT_CODE_KERNEL))
			err = rvt_space_map_lent(kernel, code[i].addr, &lent, code[i].name);
	}
	return err;
}

int rvt_sideband_kernel(struct rvt_sideband *sideband, struct rvt_image *image,
			struct rvt_space **kernel)
{
	int err = rvt_space_create(image, NULL, kernel);

	if (!err && sideband->firmware)
		err = rvt_space_map_elf(*kernel, sideband->firmware, 0);
	if (!err)
		err = map_code(sideband, *kernel, sideband->vmlinux || sideband->kcore);
	if (!err && sideband->kcore)
		err = rvt_space_map_elf(*kernel, sideband->kcore, 0);
	if (!err && sideband->vmlinux)
		err = rvt_space_map_elf(*kernel, sideband->vmlinux, 0);
	return err ? err : rvt_sideband_rewind(sideband, *kernel);
}
