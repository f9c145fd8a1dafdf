// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reports kernel code that is added, changed or removed while it is traced: modules with their
 * functions, BPF programs, and the jumps of static keys (RISC-V kernels have no
 * PERF_RECORD_TEXT_POKE). The bytes go into the recording as samples, so that they have perf's
 * time: see rvtrace/kernel-code.h.
 */
#include "bpf/types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <rvtrace/kernel-code.h>
#include "bpf/symbols.h"

#define MAX_CHUNKS 16		/* of a module's code, to leave room in the buffer */
#define MAX_FUNCTIONS 4096
#define STT_FUNC 2
#define BPF_CHUNK 64		/* the kernel's JIT rounds sizes up to this */

#define JUMP_LABEL_JMP 1
#define INSN_NOP 0x00000013u
#define INSN_JAL 0x0000006fu
#define INSN_BYTES 4

enum mod_mem_type {
	MOD_TEXT,
	MOD_INIT_TEXT = 4,
};

struct module_memory {
	void *base;
	unsigned int size;
} KERNEL_STRUCT;

struct elf64_sym {
	__u32 st_name;
	unsigned char st_info, st_other;
	__u16 st_shndx;
	__u64 st_value, st_size;
};

struct mod_kallsyms {
	struct elf64_sym *symtab;
	unsigned int num_symtab;
	char *strtab;
} KERNEL_STRUCT;

struct module {
	char name[56];
	struct module_memory mem[8];
	struct mod_kallsyms *kallsyms;
} KERNEL_STRUCT;

struct jump_entry {
	__s32 code, target;	/* relative to the member's own address */
} KERNEL_STRUCT;

struct bpf_ksym {
	unsigned long start, end;
	char name[512];
} KERNEL_STRUCT;

struct bpf_binary_header {
	__u32 size;
	unsigned char image[];
} KERNEL_STRUCT;

struct pt_regs {
	unsigned long a0, a1;
} KERNEL_STRUCT;

struct room {
	struct rvt_kernel_code head;
	unsigned char bytes[RVT_KERNEL_CODE_MAX];
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

static struct room *get_room(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&rooms, &zero);
}

static void put(void *ctx, struct room *room, __u64 n_bytes)
{
	if (n_bytes <= RVT_KERNEL_CODE_MAX)
		bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, room,
				      sizeof(room->head) + n_bytes);
}

/* ---- code ---- */

struct copying {
	void *ctx;
	__u64 addr, from, left;
};

static long copy_chunk(__u32 i, struct copying *c)
{
	struct room *room = get_room();
	__u64 len = c->left;

	(void)i;
	if (!room || !len)
		return 1;
	if (len > RVT_KERNEL_CODE_MAX)
		len = RVT_KERNEL_CODE_MAX;
	room->head.addr = c->addr;
	room->head.len = len;
	if (bpf_probe_read_kernel(room->bytes, len, (void *)c->from))
		return 1;
	put(c->ctx, room, len);
	c->addr += len;
	c->from += len;
	c->left -= len;
	return 0;
}

/*
 * Copies what is at @from, as the code that is or will be at @addr. The caller sets the rest of
 * .head.
 */
static void copy_code_from(void *ctx, __u64 addr, __u64 from, __u64 len)
{
	struct copying c = { ctx, addr, from, len };

	bpf_loop(MAX_CHUNKS, copy_chunk, &c, 0);
}

static void copy_code(void *ctx, __u64 addr, __u64 len)
{
	copy_code_from(ctx, addr, addr, len);
}

/* ---- modules ---- */

struct naming {
	void *ctx;
	__u64 symbols, strings;
};

static long name_function(__u32 i, struct naming *n)
{
	struct room *room = get_room();
	struct elf64_sym symbol;

	if (!room || bpf_probe_read_kernel(&symbol, sizeof(symbol),
					   (void *)(n->symbols + i * sizeof(symbol))))
		return 1;
	if ((symbol.st_info & 15) != STT_FUNC || !symbol.st_shndx || !symbol.st_size)
		return 0;
	room->head.addr = symbol.st_value;
	room->head.len = symbol.st_size;
	bpf_probe_read_kernel_str(room->head.function, RVT_KERNEL_CODE_NAME,
				  (void *)(n->strings + symbol.st_name));
	put(n->ctx, room, 0);
	return 0;
}

static void name_functions(void *ctx, struct room *room, struct module *module)
{
	struct mod_kallsyms *table = BPF_CORE_READ(module, kallsyms);
	struct naming n = { ctx, (__u64)BPF_CORE_READ(table, symtab),
			    (__u64)BPF_CORE_READ(table, strtab) };
	__u32 count = BPF_CORE_READ(table, num_symtab);

	room->head.kind = RVT_KERNEL_CODE_FUNCTION;
	bpf_loop(count < MAX_FUNCTIONS ? count : MAX_FUNCTIONS, name_function, &n, 0);
	room->head.function[0] = 0;
}

static struct room *module_room(struct module *module)
{
	struct room *room = get_room();

	if (room) {
		room->head.function[0] = 0;
		bpf_probe_read_kernel_str(room->head.module, RVT_KERNEL_CODE_NAME, module->name);
	}
	return room;
}

/*
 * Runs before the module's first instruction. Functions of its initialisation are only in memory
 * now.
 */
SEC("raw_tp/module_load")
int module_comes(__u64 *ctx)
{
	struct module *module = (void *)ctx[0];
	struct room *room = module_room(module);

	if (!room)
		return 0;
	room->head.kind = RVT_KERNEL_CODE_COMES;
	copy_code(ctx, (__u64)BPF_CORE_READ(module, mem[MOD_INIT_TEXT].base),
		  BPF_CORE_READ(module, mem[MOD_INIT_TEXT].size));
	copy_code(ctx, (__u64)BPF_CORE_READ(module, mem[MOD_TEXT].base),
		  BPF_CORE_READ(module, mem[MOD_TEXT].size));
	name_functions(ctx, room, module);
	return 0;
}

/* Runs after the module's last instruction. */
SEC("raw_tp/module_free")
int module_goes(__u64 *ctx)
{
	struct module *module = (void *)ctx[0];
	struct room *room = module_room(module);

	if (!room)
		return 0;
	name_functions(ctx, room, module);
	room->head.kind = RVT_KERNEL_CODE_GOES;
	copy_code(ctx, (__u64)BPF_CORE_READ(module, mem[MOD_TEXT].base),
		  BPF_CORE_READ(module, mem[MOD_TEXT].size));
	return 0;
}

/* ---- BPF programs ---- */

static struct room *bpf_room(void)
{
	static const char module[] = "bpf";
	struct room *room = get_room();

	if (room)
		__builtin_memcpy(room->head.module, module, sizeof(module));
	return room;
}

/*
 * Copies what the JIT made, before it is where it runs. That includes classic BPF (seccomp, socket
 * filters), which has no symbols.
 */
SEC("kprobe/bpf_jit_binary_pack_finalize")
int image_comes(struct pt_regs *ctx)
{
	struct bpf_binary_header *to = (void *)ctx->a0, *from = (void *)ctx->a1;
	__u64 size = BPF_CORE_READ(from, size), head = bpf_core_field_offset(to->image);
	struct room *room = bpf_room();

	if (!room || size <= head || size % BPF_CHUNK)
		return 0;
	room->head.function[0] = 0;
	room->head.kind = RVT_KERNEL_CODE_COMES;
	copy_code_from(ctx, (__u64)to + head, (__u64)from + head, size - head);
	return 0;
}

SEC("kprobe/bpf_jit_binary_pack_free")
int image_goes(struct pt_regs *ctx)
{
	struct bpf_binary_header *image = (void *)ctx->a0;
	__u64 size = BPF_CORE_READ(image, size), head = bpf_core_field_offset(image->image);
	struct room *room = bpf_room();

	if (!room || size <= head)
		return 0;
	room->head.function[0] = 0;
	room->head.kind = RVT_KERNEL_CODE_GOES;
	copy_code(ctx, (__u64)image + head, size - head);
	return 0;
}

/* Copies a function of another program: each has a symbol. */
static int put_bpf(void *ctx, struct bpf_ksym *symbol, __u32 kind)
{
	struct room *room = bpf_room();
	__u64 start = BPF_CORE_READ(symbol, start);

	if (!room)
		return 0;
	bpf_probe_read_kernel_str(room->head.function, RVT_KERNEL_CODE_NAME, symbol->name);
	room->head.kind = kind;
	copy_code(ctx, start, BPF_CORE_READ(symbol, end) - start);
	return 0;
}

SEC("kprobe/bpf_ksym_add")
int bpf_comes(struct pt_regs *ctx)
{
	return put_bpf(ctx, (void *)ctx->a0, RVT_KERNEL_CODE_COMES);
}

SEC("kprobe/bpf_ksym_del")
int bpf_goes(struct pt_regs *ctx)
{
	return put_bpf(ctx, (void *)ctx->a0, RVT_KERNEL_CODE_GOES);
}

/*
 * ---- static keys ----
 *
 * We report a jump when the kernel has written it and goes on, to the next jump of the key or to
 * the fence behind them all. The probe before the write delays interrupts, which then run between
 * the probe and the write: a time from that probe would be too early by all that they take. From
 * the write on, no interrupt is delayed.
 */

/*
 * Encodes a JAL; its immediate is imm[20
 *
 * 10:1
 *
 * 11
 *
 * 19:12] in bits 31 to 12.
 */
static __u32 jal(__s32 distance)
{
	__u32 d = distance;

	return INSN_JAL | (d >> 20 & 1) << 31 | (d >> 1 & 0x3ff) << 21 | (d >> 11 & 1) << 20 |
		(d >> 12 & 0xff) << 12;
}

struct change {
	struct rvt_kernel_code head;	/* .kind 0: was reported */
	unsigned char bytes[2 * INSN_BYTES];
};

/*
 * What the kernel is about to write. There is only one at a time: the kernel holds a mutex from the
 * first jump of a key to the end.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct change);
} changes SEC(".maps");

/* Reports the change, if there is one. Returns where the next one has room, or NULL. */
static struct change *put_change(void *ctx)
{
	__u32 zero = 0;
	struct change *change = bpf_map_lookup_elem(&changes, &zero);

	if (change && change->head.kind) {
		bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, change, sizeof(*change));
		change->head.kind = 0;
	}
	return change;
}

/* Runs when all jumps of the key have been written. */
SEC("kprobe/arch_jump_label_transform_apply")
int key_changed(struct pt_regs *ctx)
{
	put_change(ctx);
	return 0;
}

SEC("kprobe/arch_jump_label_transform_queue")
int key_changes(struct pt_regs *ctx)
{
	struct jump_entry *entry = (void *)ctx->a0;
	struct change *change = put_change(ctx);
	__s32 code = BPF_CORE_READ(entry, code), target = BPF_CORE_READ(entry, target);
	__u64 from = (__u64)__builtin_preserve_access_index(&entry->code) + code;
	__u64 to = (__u64)__builtin_preserve_access_index(&entry->target) + target;
	__u32 insn = ctx->a1 == JUMP_LABEL_JMP ? jal(to - from) : INSN_NOP;

	if (!change || bpf_probe_read_kernel(change->bytes, INSN_BYTES, (void *)from))
		return 0;
	__builtin_memcpy(change->bytes + INSN_BYTES, &insn, INSN_BYTES);
	change->head.addr = from;
	change->head.len = INSN_BYTES;
	change->head.kind = RVT_KERNEL_CODE_CHANGES;
	return 0;
}

/*
 * ---- for the recorder: code that the kernel makes while it runs, which /proc/kcore may lack ----
 */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, unsigned char[RVT_KERNEL_PAGE]);
} page SEC(".maps");

struct address {
	__u64 addr;
};

SEC("syscall")
int read_page(struct address *ctx)
{
	__u32 zero = 0;
	void *bytes = bpf_map_lookup_elem(&page, &zero);

	return !bytes || bpf_probe_read_kernel(bytes, RVT_KERNEL_PAGE, (void *)ctx->addr);
}

/* ---- for the recorder: symbols that are not the kernel's own ---- */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_STRUCT;

struct kallsym_iter {
	unsigned long value;
	char type;
	char name[512];
	char module_name[56];
} KERNEL_STRUCT;

struct symbol_room {
	struct kernel_symbol head;
	char names[SYMBOL_NAME + SYMBOL_MODULE];
};

struct bpf_iter__ksym {
	struct bpf_iter_meta *meta;
	struct kallsym_iter *ksym;
} KERNEL_STRUCT;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct symbol_room);
} symbol_room SEC(".maps");

/*
 * Returns whether it is the assembler's, like $x or .L17: there are many times as many as
 * functions.
 */
static int is_local(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

/* Writes what /proc/kallsyms prints after 100000 symbols of the kernel. */
SEC("iter/ksym")
int symbols(struct bpf_iter__ksym *ctx)
{
	struct kallsym_iter *symbol = ctx->ksym;
	struct symbol_room *out;
	__u32 zero = 0;
	long name, module;

	/* symbols that another module defines have no address here */
	if (!symbol || !symbol->module_name[0] || !symbol->value || is_local(symbol->name))
		return 0;
	out = bpf_map_lookup_elem(&symbol_room, &zero);
	if (!out)
		return 0;
	name = bpf_probe_read_kernel_str(out->names, SYMBOL_NAME, symbol->name);
	if (name <= 0 || name > SYMBOL_NAME)
		return 0;
	module = bpf_probe_read_kernel_str(out->names + name, SYMBOL_MODULE, symbol->module_name);
	if (module <= 0 || module > SYMBOL_MODULE)
		return 0;
	out->head.addr = symbol->value;
	out->head.type = symbol->type;
	out->head.name_len = name;
	out->head.module_len = module;
	bpf_seq_write(ctx->meta->seq, out, sizeof(out->head) + name + module);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
