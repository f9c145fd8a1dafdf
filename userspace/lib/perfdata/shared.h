/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the library, and for the recorder: code and symbols that recordings share. The kernel's
 * code and that of each module is in a file of its own, CACHE/rvtrace/kernel/BUILD-ID/ID, and so
 * are the symbols of the kernel itself. A recording refers to them in section
 * RVT_FEAT_RVTRACE_SHARED, which is packed as RVT_FEAT_RVTRACE_CODE is: the bytes of each entry
 * there are a struct rvt_shared_ref, the absolute path of the file with a terminating zero, and
 * what differs from the file.
 */
#ifndef RVT_LIB_PERFDATA_SHARED_H
#define RVT_LIB_PERFDATA_SHARED_H

#include <stddef.h>
#include <stdint.h>

#define RVT_SHARED_CODE 0x3165646f63747672ULL	/* "rvtcode1": code as it is in memory */
#define RVT_SHARED_SYMBOLS 0x31736d7973747672ULL	/* "rvtsyms1": rvt_text_pack() of lines of
						 * /proc/kallsyms */
#define RVT_SHARED_FOLDER "rvtrace/kernel"
#define RVT_SHARED_ID_BYTES 20

/* A file begins with it; its content follows. */
struct rvt_shared_head {
	uint64_t magic;
	uint64_t id;		/* drawn by lot: of two files with one name one is not meant */
	uint64_t len;		/* of the content */
	uint64_t addr;		/* symbols: what the first line has */
	uint8_t build_id[RVT_SHARED_ID_BYTES];	/* what it is shorter by is zero */
	uint32_t build_id_len;
	uint64_t reserved;
};

/* Behind the path, each followed by .len bytes: what stands at @from of the code instead. */
struct rvt_shared_change {
	uint32_t from, len;
};

struct rvt_shared_ref {
	uint64_t id, len;	/* as the file's head has them */
	uint32_t path_len;	/* with the zero */
	uint32_t changes_len;	/* bytes behind the path */
};

/*
 * ${XDG_CACHE_HOME:-~/.cache}/rvtrace/kernel, malloc'd; NULL: neither is set, or no memory.
 */
char *rvt_shared_folder(void);

#endif
