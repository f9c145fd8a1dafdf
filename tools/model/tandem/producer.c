// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Writes the tandem trace of one hart. Arguments: out=FILE, start=N (instructions of the hart to
 * skip) or start=user (begins with the first one in U mode), skip=N (more instructions to skip from
 * there on), count=N (instructions to trace, including those that trap), hart=N, text=appendix-c
 * (its bytes), quit=on (end the emulator then).
 *
 * A call-back before each instruction finds the registers as the last instruction left them, and
 * writes what changed. CSRs are only checked after instructions that can change them: system
 * instructions, floating point; and after traps.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "producer.h"
#include "../number.h"
#include "model/tandem/privileged.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv);

#define PAGE 4096u
#define MAX_ACCESSES 16u
#define MAX_ROOTS 256u
/* User programs are below RAM or, when relocated, at the top of the lower half. */
#define FIRST_HIGH_USER 0x1000000000u

struct insn {
	uint64_t vaddr;			/* where it was translated; see pc_of() */
	uint32_t word;
	uint8_t bytes;
	bool first;			/* of its block */
};

struct access {
	bool store;
	uint8_t size;			/* log2 */
	uint64_t vaddr, paddr, value;
};

struct per_vcpu {
	uint64_t armed;			/* call-backs are needed */
	uint64_t skipped;		/* instructions executed before the trace */
};

static struct {
	const char *path;
	uint64_t start, skip, count;
	bool start_user, quit;
	unsigned int hart;
} args = { .count = UINT64_MAX };

static struct {
	struct output out;
	bool on, done;
	uint64_t written;
	/* last state in the trace */
	uint64_t regs[RVT_TANDEM_REGS];
	uint64_t privilege, code_page, code_paddr;
	bool has_code_paddr;		/* of the instruction being executed */
	/* the instruction being executed */
	bool has_insn;
	const struct insn *insn;
	uint64_t pc;
	uint64_t delta;			/* of the block: real minus translated addresses */
	struct access accesses[MAX_ACCESSES];
	unsigned int accesses_len;
	/* page tables in the trace */
	uint64_t roots[MAX_ROOTS];
	unsigned int roots_len;
} hart;

static struct qemu_plugin_scoreboard *board;

static struct per_vcpu *per_vcpu(unsigned int vcpu)
{
	return qemu_plugin_scoreboard_find(board, vcpu);
}

/* ---- changes ---- */

/* Writes the register if it changed, or if @always. */
static void put_changed(unsigned int reg, bool always)
{
	uint64_t value;

	if (!register_exists(reg))
		return;
	value = register_now(reg);
	if (value == hart.regs[reg] && !always)
		return;
	hart.regs[reg] = value;
	put_register(&hart.out, reg, value);
}

static void put_changed_range(unsigned int from, unsigned int to)
{
	unsigned int reg;

	for (reg = from; reg < to; reg++)
		if (reg >= RVT_TANDEM_GPR || !rvt_tandem_reg_unobserved(reg))
			put_changed(reg, false);
}

static void put_privilege(bool always)
{
	uint64_t now = register_privilege();

	if (now != hart.privilege || always)
		put_state(&hart.out, RVT_TANDEM_PRIV, now);
	if (now != hart.privilege)
		hart.code_page = UINT64_MAX;
	hart.privilege = now;
}

/* ---- memory ---- */

static unsigned int amo_op(uint32_t word)
{
	switch (word >> 27) {
	case 0x00: return RVT_TANDEM_AMO_ADD;
	case 0x01: return RVT_TANDEM_AMO_SWAP;
	case 0x04: return RVT_TANDEM_AMO_XOR;
	case 0x08: return RVT_TANDEM_AMO_OR;
	case 0x0c: return RVT_TANDEM_AMO_AND;
	case 0x10: return RVT_TANDEM_AMO_MIN;
	case 0x14: return RVT_TANDEM_AMO_MAX;
	case 0x18: return RVT_TANDEM_AMO_MINU;
	default: return RVT_TANDEM_AMO_MAXU;
	}
}

static void put_request(const struct access *access, unsigned int op, uint64_t store_data)
{
	put(&hart.out, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_MEM_REQ, .mem_op = op, .mem_size = access->size,
		.addr = access->paddr, .value = store_data,
	});
}

static void put_response(const struct access *access, unsigned int op)
{
	put(&hart.out, &(struct rvt_tandem_record){
		.op = RVT_TANDEM_MEM_RSP, .mem_op = op, .mem_size = access->size,
		.value = access->value,
	});
}

/* Writes an access that crosses a page byte by byte, as its parts may be anywhere. */
static void put_split(const struct access *access)
{
	unsigned int i, bytes = 1u << access->size, op;
	struct access part = *access;

	op = access->store ? RVT_TANDEM_STORE : RVT_TANDEM_LOAD;
	for (i = 0; i < bytes; i++) {
		part.size = 0;
		part.value = access->value >> 8 * i & 0xff;
		part.paddr = access->paddr + i;
		if ((access->vaddr + i) / PAGE != access->vaddr / PAGE &&
		    !qemu_plugin_translate_vaddr(access->vaddr + i, &part.paddr))
			continue;
		put_request(&part, op, part.value);
		if (!access->store)
			put_response(&part, op);
	}
}

static void put_access(const struct access *access)
{
	unsigned int op = access->store ? RVT_TANDEM_STORE : RVT_TANDEM_LOAD;

	if (access->vaddr % PAGE + (1u << access->size) > PAGE) {
		put_split(access);
		return;
	}
	put_request(access, op, access->value);
	if (!access->store)
		put_response(access, op);
}

/* Returns the current value of physical memory. */
static uint64_t memory_now(uint64_t paddr, unsigned int bytes)
{
	GByteArray *array = g_byte_array_new();
	uint64_t value = 0;

	if (qemu_plugin_read_memory_hwaddr(paddr, array, bytes) == QEMU_PLUGIN_HWADDR_OPERATION_OK)
		memcpy(&value, array->data, bytes);
	g_byte_array_free(array, 1);
	return value;
}

/*
 * Returns whether a store conditional failed. Without a result register, memory tells: if it has
 * the value already, success and failure are the same.
 */
static bool sc_failed(const struct rvt_tandem_data *data, uint64_t source)
{
	const struct access *access = &hart.accesses[0];
	unsigned int bytes = 1u << access->size;

	if (data->rd)
		return hart.regs[RVT_TANDEM_GPR + data->rd];
	return memory_now(access->paddr, bytes) != (source & UINT64_MAX >> (64 - 8 * bytes));
}

/* Writes an atomic access. @source: the value of rs2 before the instruction. */
static void put_atomic(const struct rvt_tandem_data *data, uint32_t word, uint64_t source)
{
	const struct access *first = &hart.accesses[0];
	unsigned int op = data->lr ? RVT_TANDEM_LR : data->sc ? RVT_TANDEM_SC : amo_op(word);

	/* a failed store conditional may have its comparison as an access, or none */
	if (!hart.accesses_len || (data->sc && sc_failed(data, source)))
		return;
	put_request(first, op, source);
	put_response(first, op);
}

static void put_accesses(const struct rvt_tandem_data *data, uint32_t word, uint64_t source)
{
	unsigned int i;

	if (!hart.accesses_len)
		return;
	put_state(&hart.out, RVT_TANDEM_EADDR, hart.accesses[0].vaddr);
	put_state(&hart.out, RVT_TANDEM_PADDR, hart.accesses[0].paddr);
	if (data->amo) {
		put_atomic(data, word, source);
		return;
	}
	for (i = 0; i < hart.accesses_len; i++)
		put_access(&hart.accesses[i]);
}

/* ---- groups ---- */

static bool is_system(uint32_t word)
{
	return (word & 0x7f) == 0x73;
}

static void put_insn(const struct insn *insn)
{
	put(&hart.out, &(struct rvt_tandem_record){
		.op = insn->bytes == 2 ? RVT_TANDEM_INSN16 : RVT_TANDEM_INSN32,
		.value = insn->word,
	});
}

/*
 * Looks up the physical address of the code, if it is on another page than before. That must come
 * before the instruction is executed, which may change the privilege mode or satp.
 */
static void look_up_code_page(void)
{
	hart.has_code_paddr = false;
	if (hart.pc / PAGE == hart.code_page)
		return;
	hart.code_page = hart.pc / PAGE;
	hart.has_code_paddr = qemu_plugin_translate_vaddr(hart.pc, &hart.code_paddr);
}

static uint64_t merge(uint64_t value, uint64_t from, uint64_t mask)
{
	return (value & ~mask) | (from & mask);
}

/*
 * Returns mstatus between an instruction and an interrupt right behind it: without the changes of
 * the trap.
 */
static uint64_t status_before_trap(const struct tandem_hart *before, uint64_t after_trap)
{
	bool to_m = register_privilege() == PRIV_M;
	uint64_t ie = to_m ? MSTATUS_MIE : MSTATUS_SIE, pie = to_m ? MSTATUS_MPIE : MSTATUS_SPIE;
	uint64_t pp = to_m ? MSTATUS_MPP : MSTATUS_SPP;
	uint64_t status = merge(after_trap, after_trap & pie ? ie : 0, ie);

	return merge(status, before->csr[CSR_MSTATUS], pie | pp);
}

/*
 * Writes a system instruction with an interrupt right behind it: only the state after both can be
 * read. The privileged architecture says what the interrupt changed and overwrote.
 */
static void put_system_before_interrupt(uint32_t word, const uint64_t *x_before,
					uint64_t prv_before)
{
	static struct tandem_hart model;
	uint64_t x[32], status, sd = UINT64_C(1) << 63;
	unsigned int csr, reg, epc = register_privilege() == PRIV_M ? CSR_MEPC : CSR_SEPC;

	model.xlen = 64;
	model.privilege = prv_before;
	memcpy(model.csr, hart.regs, sizeof(model.csr));
	memcpy(x, x_before, sizeof(x));
	rvt_tandem_system(&model, word, x, &csr);
	status = status_before_trap(&model, register_now(CSR_MSTATUS));
	for (reg = 0; reg < RVT_TANDEM_GPR; reg++)
		if (!rvt_tandem_reg_unobserved(reg) && reg != CSR_MSTATUS && reg != CSR_SSTATUS &&
		    (reg < epc || reg > epc + 2))
			put_changed(reg, false);
	if (status != hart.regs[CSR_MSTATUS]) {
		hart.regs[CSR_MSTATUS] = status;
		hart.regs[CSR_SSTATUS] = status & (SSTATUS_FIELDS | sd);
		put_register(&hart.out, CSR_MSTATUS, status);
	}
	if (model.privilege != hart.privilege) {
		hart.privilege = model.privilege;
		put_state(&hart.out, RVT_TANDEM_PRIV, hart.privilege);
	}
}

/*
 * Returns whether a load or store without an access starts again in its own block, as QEMU does for
 * devices.
 */
static bool restarted(const struct rvt_tandem_data *data, uint64_t next_pc)
{
	return data->bytes && !data->sc && !hart.accesses_len && next_pc == hart.pc;
}

/*
 * Writes page tables when they come into use: a trace that begins in the middle lacks their making.
 */
static void put_new_page_tables(void)
{
	uint64_t satp = hart.regs[CSR_SATP];
	unsigned int i;

	if (!args.start && !args.start_user)
		return;
	for (i = 0; i < hart.roots_len; i++)
		if (hart.roots[i] == satp)
			return;
	if (hart.roots_len < MAX_ROOTS)
		hart.roots[hart.roots_len++] = satp;
	put_page_tables(&hart.out, satp);
}

/* Writes the pending instruction, which has retired; @interrupted: an interrupt was taken since. */
static void put_retired(uint64_t next_pc, bool interrupted)
{
	uint32_t word = hart.insn->word;
	uint64_t x[32], prv = hart.privilege;
	struct rvt_tandem_data data;

	memcpy(x, &hart.regs[RVT_TANDEM_GPR], sizeof(x));
	rvt_tandem_data(word, 64, x, &data);
	hart.has_insn = false;
	if (restarted(&data, next_pc))
		return;
	put_op(&hart.out, RVT_TANDEM_BEGIN_GROUP);
	if (next_pc == hart.pc + hart.insn->bytes)
		put_op(&hart.out, RVT_TANDEM_INC_PC);
	else
		put_state(&hart.out, RVT_TANDEM_PC, next_pc);
	put_insn(hart.insn);
	if (hart.has_code_paddr)
		put_state(&hart.out, RVT_TANDEM_PC_PADDR, hart.code_paddr);
	put_changed_range(RVT_TANDEM_GPR + 1, RVT_TANDEM_FPR);
	put_accesses(&data, word, x[word >> 20 & 31]);
	if (rvt_tandem_is_fp(word, 64)) {
		put_changed_range(RVT_TANDEM_FPR, RVT_TANDEM_REGS);
		put_changed(CSR_FCSR, false);
		if (!interrupted)
			put_changed(CSR_MSTATUS, false);
	}
	if (is_system(word) && interrupted) {
		put_system_before_interrupt(word, x, prv);
	} else if (is_system(word)) {
		put_changed_range(0, RVT_TANDEM_GPR);
		put_privilege(false);
	}
	put_op(&hart.out, RVT_TANDEM_END_GROUP);
	if (is_system(word))
		put_new_page_tables();
	hart.written++;
}

/* Writes a trap; @insn: the instruction that caused it, NULL: none did, or it is not known. */
static void put_trap(const struct insn *insn, uint64_t handler)
{
	unsigned int epc;

	put_op(&hart.out, RVT_TANDEM_BEGIN_GROUP);
	put_state(&hart.out, RVT_TANDEM_PC, handler);
	if (insn)
		put_insn(insn);
	put_privilege(true);
	epc = hart.privilege == PRIV_M ? CSR_MEPC : CSR_SEPC;
	put_changed(epc, true);
	put_changed(epc + 1, true);
	put_changed(epc + 2, true);
	put_changed(CSR_MSTATUS, true);
	put_changed_range(0, RVT_TANDEM_GPR);
	put_op(&hart.out, RVT_TANDEM_END_GROUP);
	/* an instruction that traps is a step, too */
	hart.written += !!insn;
}

/* ---- begin and end ---- */

static void begin(uint64_t pc)
{
	unsigned int reg;

	if (!args.start && !args.start_user) {
		put_op(&hart.out, RVT_TANDEM_BEGIN_GROUP);
		put_op(&hart.out, RVT_TANDEM_RESET);
		put_op(&hart.out, RVT_TANDEM_END_GROUP);
	}
	put_op(&hart.out, RVT_TANDEM_BEGIN_GROUP);
	put_op(&hart.out, RVT_TANDEM_STATE_INIT);
	put_state(&hart.out, RVT_TANDEM_PC, pc);
	put_privilege(true);
	for (reg = 0; reg < RVT_TANDEM_REGS; reg++)
		if (reg != RVT_TANDEM_GPR && !rvt_tandem_reg_unobserved(reg))
			put_changed(reg, true);
	/* pending bits of software are only seen when they are read */
	put_changed(CSR_MIP, true);
	put_op(&hart.out, RVT_TANDEM_END_GROUP);
	put_new_page_tables();
	hart.code_page = UINT64_MAX;
	hart.on = true;
}

static void end(unsigned int vcpu)
{
	hart.on = false;
	hart.done = true;
	per_vcpu(vcpu)->armed = 0;
	if (output_close(&hart.out))
		fprintf(stderr, "rvtrace-tandem: %s could not be written whole\n", args.path);
	else
		fprintf(stderr, "rvtrace-tandem: %" PRIu64 " instructions in %s\n", hart.written,
			args.path);
	if (args.quit)
		kill(getpid(), SIGTERM);
}

/* ---- call-backs ---- */

/*
 * Returns the real address of an instruction. QEMU uses one translation at all addresses that a
 * page is mapped to; only the pc register has the real one, and is up to date at the beginning of a
 * block.
 */
static uint64_t pc_of(const struct insn *insn)
{
	if (insn->first)
		hart.delta = register_pc() - insn->vaddr;
	return insn->vaddr + hart.delta;
}

static void on_insn(unsigned int vcpu, void *userdata)
{
	const struct insn *insn = userdata;
	uint64_t pc;

	if (hart.done || vcpu != args.hart)
		return;
	if (args.skip) {
		args.skip--;
		return;
	}
	/* begins with a block, as the address is not known elsewhere */
	if (!hart.on && (!insn->first || (args.start_user && register_privilege() != PRIV_U)))
		return;
	pc = pc_of(insn);
	if (!hart.on)
		begin(pc);
	if (hart.has_insn)
		put_retired(pc, false);
	if (hart.written >= args.count) {
		end(vcpu);
		return;
	}
	hart.has_insn = true;
	hart.insn = insn;
	hart.pc = pc;
	hart.accesses_len = 0;
	look_up_code_page();
}

static unsigned int value_of(qemu_plugin_mem_value mem, uint64_t *value)
{
	switch (mem.type) {
	case QEMU_PLUGIN_MEM_VALUE_U8:
		*value = mem.data.u8;
		return 0;
	case QEMU_PLUGIN_MEM_VALUE_U16:
		*value = mem.data.u16;
		return 1;
	case QEMU_PLUGIN_MEM_VALUE_U32:
		*value = mem.data.u32;
		return 2;
	default:
		*value = mem.data.u64;
		return 3;
	}
}

static void on_memory(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *userdata)
{
	struct qemu_plugin_hwaddr *hwaddr;
	struct access *access;

	(void)userdata;
	if (!hart.has_insn || vcpu != args.hart || hart.accesses_len == MAX_ACCESSES)
		return;
	access = &hart.accesses[hart.accesses_len++];
	hwaddr = qemu_plugin_get_hwaddr(info, vaddr);
	access->store = qemu_plugin_mem_is_store(info);
	access->size = value_of(qemu_plugin_mem_get_value(info), &access->value);
	access->vaddr = vaddr;
	access->paddr = hwaddr ? qemu_plugin_hwaddr_phys_addr(hwaddr) : vaddr;
}

static void on_discontinuity(unsigned int vcpu, enum qemu_plugin_discon_type type, uint64_t from_pc,
			     uint64_t to_pc, void *userdata)
{
	const struct insn *cause = NULL;
	bool interrupt = type == QEMU_PLUGIN_DISCON_INTERRUPT;

	(void)userdata;
	if (!hart.on || vcpu != args.hart || type == QEMU_PLUGIN_DISCON_HOSTCALL)
		return;
	if (hart.has_insn && !interrupt && from_pc == hart.pc) {
		cause = hart.insn;
		hart.has_insn = false;
	} else if (hart.has_insn) {
		put_retired(from_pc, true);
	}
	put_trap(cause, to_pc);
}

static bool may_be_user(uint64_t vaddr)
{
	return (vaddr >= 0x10000 && vaddr < 0x80000000u) ||
		(vaddr >= FIRST_HIGH_USER && vaddr >> 63 == 0);
}

/* Has every instruction watched from a block on that looks like user code. */
static void on_user_block(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	if (vcpu == args.hart && !hart.done && register_privilege() == PRIV_U)
		per_vcpu(vcpu)->armed = 1;
}

static void translate_insn(struct qemu_plugin_insn *handle, bool first)
{
	qemu_plugin_u64 armed = { board, offsetof(struct per_vcpu, armed) };
	qemu_plugin_u64 skipped = { board, offsetof(struct per_vcpu, skipped) };
	struct insn *insn = calloc(1, sizeof(*insn));

	if (!insn)
		abort();
	insn->vaddr = qemu_plugin_insn_vaddr(handle);
	insn->bytes = qemu_plugin_insn_data(handle, &insn->word, sizeof(insn->word));
	insn->first = first;
	if (args.start_user) {
		if (first && may_be_user(insn->vaddr))
			qemu_plugin_register_vcpu_insn_exec_cb(handle, on_user_block,
							       QEMU_PLUGIN_CB_R_REGS, NULL);
		qemu_plugin_register_vcpu_insn_exec_cond_cb(handle, on_insn, QEMU_PLUGIN_CB_R_REGS,
							    QEMU_PLUGIN_COND_NE, armed, 0, insn);
	} else {
		qemu_plugin_register_vcpu_insn_exec_cond_cb(handle, on_insn, QEMU_PLUGIN_CB_R_REGS,
							    QEMU_PLUGIN_COND_GE, skipped,
							    args.start, insn);
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
			handle, QEMU_PLUGIN_INLINE_ADD_U64, skipped, 1);
	}
	qemu_plugin_register_vcpu_mem_cb(handle, on_memory, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_translate(struct qemu_plugin_tb *tb, void *userdata)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	(void)userdata;
	if (hart.done)
		return;
	for (i = 0; i < n; i++)
		translate_insn(qemu_plugin_tb_get_insn(tb, i), !i);
}

static void on_vcpu(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	if (vcpu == args.hart && registers_init())
		exit(1);
}

static void on_machine_exit(void *userdata)
{
	(void)userdata;
	if (!hart.done)
		end(args.hart);
}

static int parse(char *arg)
{
	char *value = strchr(arg, '=');
	uint64_t number;

	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(arg, "out"))
		args.path = value;
	else if (!strcmp(arg, "start") && !strcmp(value, "user"))
		args.start_user = true;
	else if (!strcmp(arg, "start"))
		return model_number(value, UINT64_MAX, &args.start);
	else if (!strcmp(arg, "skip"))
		return model_number(value, UINT64_MAX, &args.skip);
	else if (!strcmp(arg, "count"))
		return model_number(value, UINT64_MAX, &args.count);
	else if (!strcmp(arg, "hart") && !model_number(value, UINT_MAX, &number))
		args.hart = number;
	else if (!strcmp(arg, "text") && !strcmp(value, "appendix-c"))
		hart.out.params.text = RVT_TANDEM_APPENDIX_C;
	else if (!strcmp(arg, "text") && !strcmp(value, "chapter-2"))
		hart.out.params.text = RVT_TANDEM_CHAPTER_2;
	else if (!strcmp(arg, "quit"))
		args.quit = !strcmp(value, "on");
	/* the lab tells every plugin where RAM is */
	else if (strcmp(arg, "ram") && strcmp(arg, "rambase") && strcmp(arg, "ramsize"))
		return -EINVAL;
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int i, ret;

	if (!info->system_emulation || strcmp(info->target_name, "riscv64")) {
		fprintf(stderr, "rvtrace-tandem: made for qemu-system-riscv64\n");
		return -EINVAL;
	}
	rvt_tandem_params_init(&hart.out.params, 64);
	for (i = 0; i < argc; i++) {
		if (parse(argv[i])) {
			fprintf(stderr, "rvtrace-tandem: '%s': there are out=, start=, skip=, "
				"count=, hart=, quit=, text=chapter-2, text=appendix-c\n", argv[i]);
			return -EINVAL;
		}
	}
	ret = args.path ? output_open(&hart.out, args.path) : -EINVAL;
	if (ret) {
		fprintf(stderr, "rvtrace-tandem: out=%s: %s\n", args.path ? args.path : "",
			strerror(-ret));
		return ret;
	}
	board = qemu_plugin_scoreboard_new(sizeof(struct per_vcpu));
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_ALL, on_discontinuity, NULL);
	qemu_plugin_register_atexit_cb(id, on_machine_exit, NULL);
	return 0;
}
