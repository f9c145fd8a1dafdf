// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies code of programs that is in no file which a decoder can read: anonymous memory, memfd,
 * deleted files, text that was changed in memory. Memory is copied when it is mapped executable or
 * made so, and when the program says that it has written code (riscv_flush_icache). A file's pages
 * only come into memory when they are used, and memory that is writable and executable is filled
 * later: these are copied at their end. The bytes go into the recording as samples, so that they
 * have perf's time: see rvtrace/user-code.h.
 */
#include "bpf/types.h"
#include <bpf/bpf_helpers.h>
#include <rvtrace/user-code.h>
#include "bpf/chosen.h"
#include "bpf/user-code.h"

/* How many pages of one mapping are examined at most, as nothing else runs on the cpu meanwhile. */
#define MAX_PAGES_COMPILED 1024
#define MAX_PAGES 32		/* in a loop that the verifier unrolls */
#define MAX_AREAS 4		/* writable and executable, of one process; a power of two */
#define MAX_FILES 16		/* mapped executable, of one process; a power of two */
#define MAX_RANGES (MAX_AREAS + MAX_FILES)
#define PAGE 4096ull
#define STACK_ALIGN 16ull

#define VM_WRITE 2
#define VM_EXEC 4
#define VM_SHARED 8
#define VM_HUGETLB 0x400000

#define NR_MPROTECT 226
#define NR_PKEY_MPROTECT 288

struct atomic {
	int counter;
};

struct mm_struct {
	struct atomic mm_users;
} KERNEL_STRUCT;

struct signal_struct {
	struct atomic live;
} KERNEL_STRUCT;

/* Members that chosen.h's structures do not have. */
struct thread_info {
	long kernel_sp;
} KERNEL_STRUCT;

struct task_struct___memory {
	struct thread_info thread_info;
	__u32 self_exec_id;
	struct mm_struct *mm, *active_mm;
	struct signal_struct *signal;
} KERNEL_STRUCT;

struct inode {
	unsigned int i_nlink;
} KERNEL_STRUCT;

struct file {
	struct inode *f_inode;
} KERNEL_STRUCT;

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags;
	struct mm_struct *vm_mm;
	struct file *vm_file;
	const void *vm_ops, *anon_vma;
} KERNEL_STRUCT;

struct pt_regs {
	unsigned long tp, a0, a1, a7, orig_a0;
} KERNEL_STRUCT;

/*
 * The current thread: tp points to it in the kernel. The helper only works if the kernel compiles
 * BPF (Linux 7.2).
 */
#define CURRENT(ctx) ((struct task_struct___memory *)(ctx)->tp)

/* Whether the kernel compiles BPF; its interpreter does not call back from bpf_loop(). */
const volatile __u32 user_code_compiled;

struct room {
	struct rvt_user_code head;
	unsigned char bytes[RVT_USER_CODE_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct room);
} rooms SEC(".maps");

/* The recorder's events, by cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_code_budget);
} budget SEC(".maps");

/*
 * The sum of each page that was copied, by address: a page that has not changed since is not
 * copied.
 */
struct page_key {
	__u64 addr;
	__u32 pid, exec;	/* .exec: number of programs the process has run */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct page_key);
	__type(value, __u64);
} copied SEC(".maps");

/* Memory that is writable and executable, by process; the newest ones. */
struct areas {
	__u64 start[MAX_AREAS], end[MAX_AREAS];
	__u32 n;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, int);
	__type(value, struct areas);
} writable SEC(".maps");

/*
 * Files mapped executable, by process; the newest ones. Whether a file has a name is only known at
 * the end.
 */
struct files {
	__u64 start[MAX_FILES], end[MAX_FILES];
	struct inode *inode[MAX_FILES];		/* NULL: on the file system for huge pages */
	__u32 shared;				/* a bit for each */
	__u32 n;
	__u32 copied;				/* exits() has copied those without a name */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, int);
	__type(value, struct files);
} mapped SEC(".maps");

/* All zero; it is too large for a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct files);
} no_files SEC(".maps");

static __always_inline struct user_code_budget *get_budget(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&budget, &zero);
}

static __always_inline int is_wanted(struct task_struct___memory *task)
{
	struct user_code_budget *b = get_budget();

	return b && (!b->chosen || is_chosen((const struct task_struct *)task));
}

/*
 * Returns FNV-1a of the page in this cpu's room; 0: it is all zero. Not static, so that it is
 * verified only once.
 */
__attribute__((noinline)) __u64 sum_of_page(void)
{
	__u64 sum = 0xcbf29ce484222325ull, any = 0;
	__u32 zero = 0;
	struct room *room = bpf_map_lookup_elem(&rooms, &zero);

	if (!room)
		return 0;
	for (__u32 i = 0; i < RVT_USER_CODE_MAX / sizeof(__u64); i += 8) {
		const __u64 *words = (const __u64 *)room->bytes + i;

#pragma unroll
		for (__u32 k = 0; k < 8; k++) {
			sum = (sum ^ words[k]) * 0x100000001b3ull;
			any |= words[k];
		}
	}
	return any ? sum : 0;
}

/*
 * Writes a page. If the same page was copied before, only writes that; else keeps its sum. Skips
 * zeroes, which are no code. Returns how many bytes it wrote.
 */
static __u64 put_page(struct pt_regs *ctx, struct room *room, struct user_code_budget *b)
{
	const struct task_struct___memory *task = CURRENT(ctx);
	struct page_key key = { room->head.addr, room->head.pid,
				BPF_CORE_READ(task, self_exec_id) };
	__u64 sum = sum_of_page(), *known = bpf_map_lookup_elem(&copied, &key);

	if (!sum)
		return 0;
	if (room->head.kind == RVT_USER_CODE_COMES && known && *known == sum) {
		room->head.kind = RVT_USER_CODE_SAME;
		bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, room, sizeof(room->head));
		return 0;
	}
	if (bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, room, sizeof(*room))) {
		b->refused |= USER_CODE_FULL;
		return 0;
	}
	if (room->head.kind == RVT_USER_CODE_COMES)
		bpf_map_update_elem(&copied, &key, &sum, 0);
	return PAGE;
}

/* Ranges of addresses that a probe has found. */
struct job {
	__u32 kind, flags;
	__u32 n, at;		/* .at: the current one */
	__u32 exits;		/* exits() made it: unmaps() comes to its files afterwards */
	__u64 addr[MAX_RANGES], end[MAX_RANGES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct job);
} jobs SEC(".maps");

static __always_inline struct job *get_job(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&jobs, &zero);
}

/* Copies a range within one page. */
static void copy_part(struct pt_regs *ctx, const struct job *job, __u64 addr, __u32 len)
{
	__u32 zero = 0;
	struct room *room = bpf_map_lookup_elem(&rooms, &zero);
	struct user_code_budget *b = get_budget();

	if (!room || !b || !len || len > RVT_USER_CODE_MAX ||
	    bpf_probe_read_user(room->bytes, len, (void *)addr))
		return;
	if (b->used + len > b->limit) {
		b->refused |= USER_CODE_LIMIT;
		return;
	}
	room->head.kind = job->kind;
	room->head.len = len;
	room->head.addr = addr;
	room->head.pid = bpf_get_current_pid_tgid() >> 32;
	room->head.flags = job->flags;
	if (len == PAGE)
		len = put_page(ctx, room, b);
	else
		bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, room,
				      sizeof(room->head) + len);
	__sync_fetch_and_add(&b->used, len);
}

struct copying {
	struct pt_regs *ctx;
	struct job *job;
};

static long copy_next(__u32 i, struct copying *c)
{
	struct job *job = c->job;
	__u32 at = job->at;
	__u64 addr, len;

	(void)i;
	if (at >= job->n || at >= MAX_RANGES)
		return 1;
	addr = job->addr[at];
	if (addr >= job->end[at]) {
		job->at = at + 1;
		return 0;
	}
	len = PAGE - (addr & (PAGE - 1));
	if (len > job->end[at] - addr)
		len = job->end[at] - addr;
	copy_part(c->ctx, job, addr, len);
	job->addr[at] = addr + len;
	return 0;
}

int copy_ranges(struct pt_regs *ctx);

/* Where the probes continue, so that the verifier checks it once. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct pt_regs *ctx));
} copiers SEC(".maps") = { .values = { copy_ranges } };

SEC("kprobe")
int copy_ranges(struct pt_regs *ctx)
{
	struct copying c = { ctx, get_job() };
	struct user_code_budget *b = get_budget();
	int pid = bpf_get_current_pid_tgid() >> 32;
	struct files *files;
	__u32 at;

	if (!c.job || !b)
		return 0;
	if (user_code_compiled)
		bpf_loop(MAX_PAGES_COMPILED, copy_next, &c, 0);
	else
		for (__u32 i = 0; i < MAX_PAGES + MAX_RANGES && !copy_next(i, &c); i++)
			;
	at = c.job->at;
	if (at < (c.job->exits ? MAX_AREAS : c.job->n) && at < MAX_RANGES &&
	    c.job->addr[at] < c.job->end[at])
		b->refused |= USER_CODE_LARGE;
	files = c.job->exits ? bpf_map_lookup_elem(&mapped, &pid) : NULL;
	if (files)
		files->copied = at >= c.job->n;
	return 0;
}

/* Does not return, unless the tail call fails. */
static __always_inline void copy_range(struct pt_regs *ctx, __u32 kind, __u32 flags,
					      __u64 addr, __u64 end)
{
	struct job *job = get_job();

	if (!job)
		return;
	job->kind = kind;
	job->flags = flags;
	job->exits = 0;
	job->n = 1;
	job->at = 0;
	job->addr[0] = addr;
	job->end[0] = end;
	bpf_tail_call(ctx, &copiers, 0);
}

/*
 * Returns whether no path leads to the file any more, as never to a memfd, or only one on the file
 * system for huge pages, whose files are lost when the machine restarts.
 */
static __always_inline int is_nameless(struct vm_area_struct *vma, struct file *file)
{
	return BPF_CORE_READ(vma, vm_flags) & VM_HUGETLB ||
	       !BPF_CORE_READ(file, f_inode, i_nlink);
}

static __always_inline struct files *get_files(int pid)
{
	struct files *files = bpf_map_lookup_elem(&mapped, &pid);
	__u32 zero = 0;

	if (files)
		return files;
	files = bpf_map_lookup_elem(&no_files, &zero);
	if (files)
		bpf_map_update_elem(&mapped, &pid, files, 0);
	return bpf_map_lookup_elem(&mapped, &pid);
}

static __always_inline void keep_file(struct vm_area_struct *vma, struct file *file)
{
	struct files *files = get_files(bpf_get_current_pid_tgid() >> 32);
	__u32 n;

	if (!files)
		return;
	n = files->n++ & (MAX_FILES - 1);
	files->start[n] = BPF_CORE_READ(vma, vm_start);
	files->end[n] = BPF_CORE_READ(vma, vm_end);
	files->inode[n] = BPF_CORE_READ(vma, vm_flags) & VM_HUGETLB ?
			  NULL : BPF_CORE_READ(file, f_inode);
	files->shared &= ~(1u << n);
	if (BPF_CORE_READ(vma, vm_flags) & VM_SHARED)
		files->shared |= 1u << n;
}

/* Returns whether exits() has copied the mapping. */
static __always_inline int was_copied(struct vm_area_struct *vma)
{
	int pid = bpf_get_current_pid_tgid() >> 32, found = 0;
	struct files *files = bpf_map_lookup_elem(&mapped, &pid);
	__u64 start = BPF_CORE_READ(vma, vm_start);

	if (!files || !files->copied)
		return 0;
	for (__u32 i = 0; i < MAX_FILES; i++)
		found |= files->start[i] == start;
	return found;
}

/* ---- mapped executable ---- */

static __always_inline void keep_writable(__u64 start, __u64 end)
{
	int pid = bpf_get_current_pid_tgid() >> 32;
	struct areas none = { .n = 0 }, *areas = bpf_map_lookup_elem(&writable, &pid);
	__u32 n;

	if (!areas) {
		bpf_map_update_elem(&writable, &pid, &none, 0);
		areas = bpf_map_lookup_elem(&writable, &pid);
	}
	if (!areas)
		return;
	n = areas->n++ & (MAX_AREAS - 1);
	areas->start[n] = start;
	areas->end[n] = end;
}

/*
 * Clips a mapping to the range of the system call, as it may have been merged with its neighbours.
 */
static __always_inline void clip_to_call(struct task_struct___memory *task, __u64 *start,
						__u64 *end)
{
	__u64 size = (bpf_core_type_size(struct pt_regs) + STACK_ALIGN - 1) & -STACK_ALIGN;
	struct pt_regs *regs = (void *)BPF_CORE_READ(task, thread_info.kernel_sp) - size;
	__u64 call = BPF_CORE_READ(regs, a7), from, to;

	if (call != NR_MPROTECT && call != NR_PKEY_MPROTECT)
		return;
	from = BPF_CORE_READ(regs, orig_a0);
	to = from + ((BPF_CORE_READ(regs, a1) + PAGE - 1) & ~(PAGE - 1));
	if (from > *start && from < *end)
		*start = from;
	if (to > *start && to < *end)
		*end = to;
}

/*
 * Runs before the record of the mapping is written: not every kernel has probes of a function's
 * return here.
 */
SEC("kprobe/perf_event_mmap")
int maps(struct pt_regs *ctx)
{
	struct vm_area_struct *vma = (void *)ctx->a0;
	__u64 start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);
	__u64 flags = BPF_CORE_READ(vma, vm_flags);
	struct file *file = BPF_CORE_READ(vma, vm_file);

	/* without a file but not anonymous: the vdso and similar mappings */
	if (!(flags & VM_EXEC) || !is_wanted(CURRENT(ctx)) ||
	    (!file && BPF_CORE_READ(vma, vm_ops)))
		return 0;
	if (file)
		keep_file(vma, file);
	if (!file && flags & VM_WRITE)
		keep_writable(start, end);
	/* memory that was never written has no pages yet, or the file's */
	if (!BPF_CORE_READ(vma, anon_vma) && !(file && is_nameless(vma, file)))
		return 0;
	clip_to_call(CURRENT(ctx), &start, &end);
	copy_range(ctx, RVT_USER_CODE_COMES, RVT_USER_CODE_MAPS, start, end);
	return 0;
}

/* ---- written ---- */

SEC("kprobe/__riscv_sys_riscv_flush_icache")
int flushes(struct pt_regs *ctx)
{
	struct pt_regs *regs = (void *)ctx->a0;
	__u64 start = BPF_CORE_READ(regs, orig_a0), end = BPF_CORE_READ(regs, a1);

	if (is_wanted(CURRENT(ctx)) && start < end)
		copy_range(ctx, RVT_USER_CODE_COMES, 0, start, end);
	return 0;
}

/* ---- the end ---- */

/*
 * Runs when the program unmaps, or when nobody has its memory any more. If others had it, too, the
 * current task may be one of them. A task that ends has no memory of its own any more, and can only
 * read this as long as no other task runs: exits() copies the newest files before, if they are not
 * too large.
 */
SEC("kprobe/uprobe_munmap")
int unmaps(struct pt_regs *ctx)
{
	struct vm_area_struct *vma = (void *)ctx->a0;
	struct task_struct___memory *task = CURRENT(ctx);
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (!file || !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC) ||
	    BPF_CORE_READ(task, active_mm) != BPF_CORE_READ(vma, vm_mm) ||
	    !is_nameless(vma, file) || !is_wanted(task) ||
	    (!BPF_CORE_READ(task, mm) && was_copied(vma)))
		return 0;
	copy_range(ctx, RVT_USER_CODE_STAYED, 0, BPF_CORE_READ(vma, vm_start),
		   BPF_CORE_READ(vma, vm_end));
	return 0;
}

/*
 * Fills in the ranges of writable memory. Each has a fixed place in the job, and is empty if there
 * is none: with a variable number, the verifier would check every combination.
 */
static __always_inline void put_writable(struct job *job, int pid)
{
	struct areas *areas = bpf_map_lookup_elem(&writable, &pid);

	for (__u32 i = 0; i < MAX_AREAS; i++) {
		job->addr[i] = areas ? areas->start[i] : 0;
		job->end[i] = areas ? areas->end[i] : 0;
	}
	bpf_map_delete_elem(&writable, &pid);
}

/* Fills in the ranges of files without a name, those in shared mappings only if @shared. */
static __always_inline void put_nameless(struct job *job, int pid, int shared)
{
	struct files *files = bpf_map_lookup_elem(&mapped, &pid);
	__u32 zero = 0;

	if (!files)
		files = bpf_map_lookup_elem(&no_files, &zero);
	if (!files)
		return;
	for (__u32 i = 0; i < MAX_FILES; i++) {
		struct inode *inode = files->inode[i];
		/* 0 if there is no inode */
		__u32 names = BPF_CORE_READ(inode, i_nlink), n = MAX_AREAS + i;
		__u32 skip = !shared && files->shared >> i & 1;

		job->addr[n] = files->start[i];
		job->end[n] = names || skip ? 0 : files->end[i];
	}
}

/*
 * Copies what is left of a program that ends. What it shares is left out if @shared is 0: a
 * compiler's mappings are large, and its children do not execute them.
 */
static __always_inline void copy_rest(struct pt_regs *ctx, int shared)
{
	int pid = bpf_get_current_pid_tgid() >> 32;
	struct job *job = get_job();

	if (!job || !is_wanted(CURRENT(ctx)))
		return;
	put_writable(job, pid);
	put_nameless(job, pid, shared);
	/* else unmaps() is next, and looks there */
	if (!shared)
		bpf_map_delete_elem(&mapped, &pid);
	job->kind = RVT_USER_CODE_STAYED;
	job->flags = 0;
	job->exits = shared;
	job->n = MAX_RANGES;
	job->at = 0;
	bpf_tail_call(ctx, &copiers, 0);
}

/* Runs when the last thread ends. If nobody else has its memory, unmaps() is next. */
SEC("kprobe/exit_mm_release")
int exits(struct pt_regs *ctx)
{
	struct mm_struct *mm = (void *)ctx->a1;

	if (BPF_CORE_READ(CURRENT(ctx), signal, live.counter) <= 0)
		copy_rest(ctx, BPF_CORE_READ(mm, mm_users.counter) <= 1);
	return 0;
}

/*
 * Runs before exec drops the old program's memory. The new one has its own by then, so unmaps()
 * cannot read the old one.
 */
SEC("kprobe/exec_mm_release")
int execs(struct pt_regs *ctx)
{
	copy_rest(ctx, 0);
	return 0;
}

/*
 * Gives a child the files of its parent, which no probe reports, and none of an older process with
 * its number.
 */
SEC("raw_tp/sched_process_fork")
int forks(__u64 *ctx)
{
	const struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	int from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);
	struct files *files = bpf_map_lookup_elem(&mapped, &from);

	if (from == to)
		return 0;
	if (files)
		bpf_map_update_elem(&mapped, &to, files, 0);
	else
		bpf_map_delete_elem(&mapped, &to);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
