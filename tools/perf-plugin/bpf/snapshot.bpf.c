// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes every task and every executable mapping, by iterators of the kernel. No task comes or goes
 * between two files, as in /proc, and thousands take milliseconds. CO-RE: libbpf fits the compiled
 * program to the structures of the kernel that runs.
 */
#include "bpf/types.h"
#include <bpf/bpf_helpers.h>
#include "bpf/snapshot.h"

#define VM_READ 1
#define VM_WRITE 2
#define VM_EXEC 4
#define VM_SHARED 8
#define PAGE_SHIFT 12

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_STRUCT;

struct task_struct {
	int pid, tgid;
	char comm[SNAPSHOT_COMM];
} KERNEL_STRUCT;

struct path {
	void *mnt;
} KERNEL_STRUCT;

struct super_block {
	__u32 s_dev;
} KERNEL_STRUCT;

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
} KERNEL_STRUCT;

struct file {
	struct path f_path;
	struct inode *f_inode;
} KERNEL_STRUCT;

/* What [vdso] and similar mappings have: no file, but a name. */
struct vm_special_mapping {
	const char *name;
} KERNEL_STRUCT;

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
	const void *vm_ops;
	void *vm_private_data;
} KERNEL_STRUCT;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL_STRUCT;

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} KERNEL_STRUCT;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snapshot_map);
} room SEC(".maps");

SEC("iter/task")
int tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct snapshot_task out = { 0 };

	if (!task)
		return 0;
	out.pid = task->tgid;
	out.tid = task->pid;
	bpf_probe_read_kernel_str(out.comm, sizeof(out.comm), task->comm);
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

static long special_name(const struct vm_area_struct *vma, char *name)
{
	const struct vm_special_mapping *special = vma->vm_private_data;
	const char *text = 0;

	/* only special mappings have operations but no file */
	if (!vma->vm_ops || !special ||
	    bpf_probe_read_kernel(&text, sizeof(text),
				  __builtin_preserve_access_index(&special->name)) || !text)
		return 0;
	return bpf_probe_read_kernel_str(name, SNAPSHOT_PATH, text);
}

SEC("iter/task_vma")
int maps(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct snapshot_map *out;
	struct file *file;
	__u32 zero = 0;
	long len;

	/* threads share the mappings of their process */
	if (!task || !vma || task->pid != task->tgid || !(vma->vm_flags & VM_EXEC))
		return 0;
	out = bpf_map_lookup_elem(&room, &zero);
	if (!out)
		return 0;
	out->pid = task->tgid;
	out->start = vma->vm_start;
	out->end = vma->vm_end;
	out->offset = (__u64)vma->vm_pgoff << PAGE_SHIFT;
	out->readable = !!(vma->vm_flags & VM_READ);
	out->writable = !!(vma->vm_flags & VM_WRITE);
	out->shared = !!(vma->vm_flags & VM_SHARED);
	out->inode = 0;
	out->device = 0;
	file = vma->vm_file;
	if (file) {
		out->inode = file->f_inode->i_ino;
		out->device = file->f_inode->i_sb->s_dev;
		len = bpf_d_path(&file->f_path, out->name, SNAPSHOT_PATH);
	} else {
		out->offset = 0;
		len = special_name(vma, out->name);
	}
	if (len < 0 || len >= SNAPSHOT_PATH)
		len = 0;
	out->name_len = len;
	bpf_seq_write(ctx->meta->seq, out,
		      __builtin_offsetof(struct snapshot_map, name) + (len & (SNAPSHOT_PATH - 1)));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
