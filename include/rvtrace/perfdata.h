/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf.data as the stock perf tool reads and writes it (tools/perf/Documentation/
 * perf.data-file-format.txt and uapi/linux/perf_event.h in the Linux tree), plus what rvtrace adds:
 * AUX data in PERF_RECORD_AUXTRACE records without PERF_RECORD_AUXTRACE_INFO, and feature sections
 * whose bits stock perf does not know and therefore skips.
 */
#ifndef RVTRACE_PERFDATA_H
#define RVTRACE_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <rvtrace/linkage.h>

RVT_BEGIN_DECLS

/* Feature sections (bits of the header's bitmap) that rvtrace reads or writes. */
enum rvt_perfdata_feature {
	RVT_FEAT_TRACING_DATA = 1,	/* formats of tracepoints */
	RVT_FEAT_BUILD_ID = 2,
	RVT_FEAT_HOSTNAME = 3,
	RVT_FEAT_OSRELEASE = 4,
	RVT_FEAT_VERSION = 5,
	RVT_FEAT_ARCH = 6,
	RVT_FEAT_NRCPUS = 7,
	RVT_FEAT_CPUDESC = 8,
	RVT_FEAT_CPUID = 9,
	RVT_FEAT_TOTAL_MEM = 10,	/* uint64_t, KiB */
	RVT_FEAT_CMDLINE = 11,
	RVT_FEAT_EVENT_DESC = 12,
	RVT_FEAT_SAMPLE_TIME = 21,
	/* ours: not as bits of the header, which stock perf would stumble over */
	RVT_FEAT_RVTRACE_META = 240,	/* text: how to decode (Documentation/design.rst) */
	RVT_FEAT_RVTRACE_CODE = 241,	/* code that is in no file: kernel, modules, vdso */
	RVT_FEAT_RVTRACE_KALLSYMS = 242,	/* zstd-compressed copy of /proc/kallsyms */
	RVT_FEAT_RVTRACE_SHARED = 243,	/* references: code and symbols in files of their own */
	RVT_FEAT_BITS = 256,
};

/* Records that perf makes itself (tools/lib/perf/include/perf/event.h). */
enum {
	RVT_RECORD_FINISHED_ROUND = 68,
	RVT_RECORD_AUXTRACE_INFO = 70,
	RVT_RECORD_AUXTRACE = 71,
	RVT_RECORD_TIME_CONV = 79,
	RVT_RECORD_COMPRESSED = 81,
};

/* So that a reader of many buffers needs little memory. */
#define RVT_AUX_MAX_UNPACKED (128u << 10)

/* PERF_RECORD_AUXTRACE: followed by .size bytes of AUX data that header.size does not count. */
struct rvt_record_auxtrace {
	struct perf_event_header header;
	uint64_t size;
	uint64_t offset;	/* position in the AUX data of this buffer */
	uint64_t reference;
	uint32_t idx;		/* number of the buffer */
	int32_t tid;		/* -1 for a per-cpu buffer */
	int32_t cpu;		/* -1 for a per-thread buffer */
	/*
	 * Ours (perf rvtrace record -z), 0 in perf's files: the bytes that follow are one zstd
	 * frame, padded to a multiple of 8, of this many bytes of AUX data, RVT_AUX_MAX_UNPACKED at
	 * most. Other readers skip them as any AUX data that is not theirs.
	 */
	uint32_t unpacked;
};

/* PERF_RECORD_TIME_CONV: hardware time stamps to perf's clock. */
struct rvt_record_time_conv {
	struct perf_event_header header;
	uint64_t time_shift;
	uint64_t time_mult;
	uint64_t time_zero;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint8_t cap_user_time_zero;
	uint8_t cap_user_time_short;
	uint8_t reserved[6];
};

/* Conversion of the `time` CSR to nanoseconds of perf's clock, and back (the first tick that gives
 * at least @ns). @conv is a whole record as TIME_CONV has it. */
uint64_t rvt_time_to_perf(const struct rvt_record_time_conv *conv, uint64_t ticks);
uint64_t rvt_time_from_perf(const struct rvt_record_time_conv *conv, uint64_t ns);

/* ---- reader ---- */

struct rvt_perfdata;

struct rvt_perfdata_event {
	struct perf_event_attr attr;	/* what the file's is shorter by is zero */
	const char *name;		/* "" when the file does not say */
	const uint64_t *ids;
	size_t n_ids;
};

struct rvt_perfdata_record {
	uint32_t type;
	uint16_t misc;
	uint64_t offset;		/* in the file */
	const struct perf_event_header *header;	/* the whole record, 8-byte aligned */
	size_t body_len;		/* bytes after the header, without the sample_id trailer */
	const struct rvt_perfdata_event *event;	/* NULL when the record does not name one */
	/* sample_id trailer (or the same fields of a PERF_RECORD_SAMPLE) */
	bool time_valid, tid_valid, cpu_valid;
	uint64_t time, id;
	int32_t pid, tid;
	int32_t cpu;
	/*
	 * SAMPLE with PERF_SAMPLE_RAW, of an event without call chains and what else is of no fixed
	 * size: its raw data; NULL: there is none, or it is longer than the record.
	 */
	const uint8_t *raw;
	size_t raw_len;
	/*
	 * AUXTRACE: AUX data present in the file; shorter than the record says if truncated. SAMPLE
	 * with PERF_SAMPLE_AUX: its trace; NULL: there is none, or as for .raw.
	 */
	const uint8_t *aux;
	size_t aux_len;
};

/*
 * rvt_perfdata_open - map a file. *error (malloc'd, the caller frees it) says what is wrong in a
 * sentence that names the file. A file that is cut short, or whose recorder was killed, opens; what
 * is missing is said by rvt_perfdata_warning().
 * Returns 0; -ENOENT, -EACCES, ... from open; -EBADMSG: not a perf.data or too damaged to use;
 * -ENOTSUP: a variant that this reader does not take (pipe format, other byte order); -ENOMEM.
 */
int rvt_perfdata_open(const char *path, struct rvt_perfdata **file, char **error);
void rvt_perfdata_close(struct rvt_perfdata *file);
const char *rvt_perfdata_path(const struct rvt_perfdata *file);
/*
 * Sentences about damage found so far, one a line, or NULL. Valid until the next call with this
 * file.
 */
const char *rvt_perfdata_warning(const struct rvt_perfdata *file);

size_t rvt_perfdata_n_events(const struct rvt_perfdata *file);
const struct rvt_perfdata_event *rvt_perfdata_event(const struct rvt_perfdata *file, size_t n);
/*
 * Content of a feature section, in the mapping. RVT_FEAT_RVTRACE_META is also found in a file whose
 * recorder was killed. Returns 0, -ENOENT, -EBADMSG (section lies outside the file).
 */
int rvt_perfdata_feature(const struct rvt_perfdata *file, unsigned int bit, const void **data,
			 size_t *len);
/* A string feature (HOSTNAME, ARCH, ...); NULL when the file has none. */
const char *rvt_perfdata_string(const struct rvt_perfdata *file, unsigned int bit);
/* The build id that the file's BUILD_ID table gives for @name. Returns its length, 0 if none. */
size_t rvt_perfdata_build_id(const struct rvt_perfdata *file, const char *name, const uint8_t **id);

/*
 * rvt_perfdata_next - the record at *@pos; *@pos moves on (start with 0). Pointers in @record are
 * into the mapping and live as long as @file.
 * Bytes that are no record are skipped up to the next that are. Returns 1; 0 at the end; -EBADMSG
 * when nothing from *@pos on is a record. rvt_perfdata_warning() says where damage is, and what was
 * skipped.
 */
int rvt_perfdata_next(struct rvt_perfdata *file, uint64_t *pos, struct rvt_perfdata_record *record);
/*
 * rvt_perfdata_release - the @len bytes at @bytes of the mapping, and what the kernel mapped around
 * them when they were read (up to the next multiples of RVT_PERFDATA_MAPPED), need not stay in
 * memory; they come back when they are read again.
 */
#define RVT_PERFDATA_MAPPED ((uintptr_t)2 << 20)
void rvt_perfdata_release(const struct rvt_perfdata *file, const void *bytes, size_t len);
/*
 * rvt_perfdata_parse - a record that is not in the file, but of the file's events: @header begins
 * it, all of its header.size bytes are there, at a multiple of 8. .offset, .aux and .aux_len are 0.
 */
void rvt_perfdata_parse(const struct rvt_perfdata *file, const struct perf_event_header *header,
			struct rvt_perfdata_record *record);

/* Layouts of PERF_RECORD_AUXTRACE_INFO that others write for a PMU named rvtrace. */
enum rvt_foreign {
	RVT_FOREIGN_NONE,	/* none of these */
	RVT_FOREIGN_UPSTREAM_V4, /* priv[0] = PMU type */
	RVT_FOREIGN_SPACEMIT,	/* priv[0] = PMU type << 32 | cpus, then 7 words for each cpu */
};

struct rvt_foreign_cpu {
	uint64_t cpu, n_params, format, context, inhibit_src, src_bits, src_id;
};

/* Recognises the record by its size. @cpus: room for @max entries; *n: how many there are. */
enum rvt_foreign rvt_perfdata_foreign(const struct rvt_perfdata_record *record, uint32_t *pmu_type,
				      struct rvt_foreign_cpu *cpus, size_t max, size_t *n);

/* ---- code that is in no file ---- */

enum rvt_code_kind {
	RVT_CODE_KERNEL = 1, RVT_CODE_MODULE, RVT_CODE_VDSO, RVT_CODE_BPF,
	RVT_CODE_UPROBES,	/* copies of probed instructions, which run in place of these */
	RVT_CODE_SYMBOLS,	/* in RVT_FEAT_RVTRACE_SHARED only: /proc/kallsyms, no code */
};

/*
 * @len bytes as they were in memory at @addr (vdso, uprobes: from the start of each process's
 * mapping of that name, .addr is 0).
 */
struct rvt_code {
	uint64_t addr, len;
	uint32_t kind;		/* enum rvt_code_kind */
	const char *name;	/* "[kernel.kallsyms]", "[module]", "[vdso]", "[uprobes]" */
	const uint8_t *bytes;
};

/* Contents of RVT_FEAT_RVTRACE_CODE: packs into a malloc'd blob. Returns 0 or -ENOMEM. */
int rvt_code_pack(const struct rvt_code *code, size_t n, void **blob, size_t *len);
/*
 * The reverse: @blob must stay until rvt_code_close(). Code is unpacked piece by piece, when it is
 * needed. Returns 0, -EBADMSG (damaged), -ENOMEM.
 */
struct rvt_code_store;
int rvt_code_open(const void *blob, size_t len, struct rvt_code_store **store);
void rvt_code_close(struct rvt_code_store *store);
/* What there is, @store's; NULL is a store without any. .bytes: only what rvt_code_need() said. */
const struct rvt_code *rvt_code_list(const struct rvt_code_store *store, size_t *n);
/*
 * rvt_code_need - unpacks the @len bytes @from some of an entry's .bytes on, which must all be of
 * it. Returns how many of them can be read; fewer: those behind are damaged. Threads may call it at
 * the same time. @store is a struct rvt_code_store, so that this can be a rvt_bytes_need.
 */
size_t rvt_code_need(void *store, const uint8_t *from, size_t len);
/* zstd-compressed text, as RVT_FEAT_RVTRACE_KALLSYMS is. Both malloc their result. */
int rvt_text_pack(const void *text, size_t text_len, void **blob, size_t *len);
int rvt_text_unpack(const void *blob, size_t len, char **text, size_t *text_len);

/*
 * AUX data of a record with .unpacked. rvt_aux_pack: into *@blob (malloc'd or NULL, of *@room
 * bytes, both changed as needed; reuse it); *@len includes the padding. rvt_aux_unpack: @bytes has
 * room for @unpacked. Return 0, -ENOMEM, -EBADMSG (damaged).
 */
int rvt_aux_pack(const void *bytes, size_t n, int level, void **blob, size_t *room, size_t *len);
int rvt_aux_unpack(const void *blob, size_t len, void *bytes, size_t unpacked);

/*
 * What a recording has of these, in its own sections and in files that it refers to
 * (userspace/lib/perfdata/shared.h); rvt_perfdata_warning() tells of files that are not there.
 *
 * rvt_perfdata_code - *@store is unchanged when there is no code. The store is the caller's, to be
 * closed before @file. 0, -EBADMSG (damaged), -ENOMEM.
 * rvt_perfdata_kallsyms - *@text is malloc'd, with a terminating zero. 0, -ENOENT (none), -EBADMSG,
 * -ENOMEM; then *@text is NULL.
 */
int rvt_perfdata_code(struct rvt_perfdata *file, struct rvt_code_store **store);
int rvt_perfdata_kallsyms(const struct rvt_perfdata *file, char **text, size_t *len);

/*
 * rvt_perfdata_archive - writes @file to the end of the file @fd, with all that it refers to in it,
 * and leaves @fd behind it. 0; -ENOENT: some of that is not there, rvt_perfdata_warning() names it;
 * -EBADMSG (damaged), -ENOMEM, or -errno of writing.
 */
int rvt_perfdata_archive(struct rvt_perfdata *file, int fd);

/* ---- writer ---- */

struct rvt_perfdata_writer;

/* Creates (or replaces) @path. Returns 0 or -errno. */
int rvt_perfdata_create(const char *path, struct rvt_perfdata_writer **writer);
/*
 * The same of an empty file that the caller has opened for writing. @fd belongs to the writer, also
 * after an error. Returns 0 or -ENOMEM.
 */
int rvt_perfdata_create_fd(int fd, struct rvt_perfdata_writer **writer);
/* Before begin: one call per event. @name and @ids are copied. */
int rvt_perfdata_add_event(struct rvt_perfdata_writer *writer, const struct perf_event_attr *attr,
			   const char *name, const uint64_t *ids, size_t n_ids);
/*
 * Writes the header and what precedes the data. @meta (may be NULL) is stored where the reader
 * finds it even if close() is never reached, and becomes feature RVT_FEAT_RVTRACE_META.
 */
int rvt_perfdata_begin(struct rvt_perfdata_writer *writer, const char *meta);
/* Whole records, or pieces that make whole records. Returns 0 or -errno. */
int rvt_perfdata_write(struct rvt_perfdata_writer *writer, const void *bytes, size_t len);
/* Makes all that was written visible in the file, should the process be killed. */
int rvt_perfdata_flush(struct rvt_perfdata_writer *writer);
/* A feature section; the bytes are copied. */
int rvt_perfdata_add_feature(struct rvt_perfdata_writer *writer, unsigned int bit,
			     const void *bytes,
			     size_t len);
int rvt_perfdata_add_string(struct rvt_perfdata_writer *writer, unsigned int bit,
			    const char *string);
int rvt_perfdata_add_cmdline(struct rvt_perfdata_writer *writer, char *const argv[], size_t argc);
/* An entry of the BUILD_ID feature. @misc: PERF_RECORD_MISC_KERNEL or _USER. */
int rvt_perfdata_add_build_id(struct rvt_perfdata_writer *writer, const char *name,
			      const uint8_t *id, size_t len, uint16_t misc);
/* Bytes of the data section so far. */
uint64_t rvt_perfdata_written(const struct rvt_perfdata_writer *writer);
/* Writes the features, EVENT_DESC among them, and the final header. The writer is gone afterwards,
 * whatever is returned. */
int rvt_perfdata_finish(struct rvt_perfdata_writer *writer);
/* Gives up: closes the file as it is. */
void rvt_perfdata_abandon(struct rvt_perfdata_writer *writer);

RVT_END_DECLS

#endif
