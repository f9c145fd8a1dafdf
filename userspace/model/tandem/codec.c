// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opcodes and their fields: one table drives encoder and decoder. */
#include <errno.h>
#include <string.h>
#include <rvtrace/tandem.h>

enum field {
	F_NONE,
	F_REG,		/* 16-bit register address */
	F_REG_DATA,	/* XLEN or FLEN */
	F_OFFSET,	/* 8 bits, signed */
	F_MASK,		/* 8 bits */
	F_STATE_ID,
	F_STATE_DATA,	/* length by identifier */
	F_ADDR,		/* MLEN */
	F_MEM_OP,	/* operation in bits 3:0, size in bits 7:4 */
	F_REQ_DATA,	/* by size, for what stores */
	F_MEM_RESULT,	/* size in bits 3:0, result in bits 7:4 */
	F_RSP_DATA,	/* by size, for what loads */
	F_INSN16,
	F_INSN32,
};

static const struct opcode {
	const char *name;
	enum field fields[4];
} opcodes[RVT_TANDEM_OPS] = {
	[RVT_TANDEM_BEGIN_GROUP] = { "begin group", { F_NONE } },
	[RVT_TANDEM_END_GROUP] = { "end group", { F_NONE } },
	[RVT_TANDEM_INC_PC] = { "increment pc", { F_NONE } },
	[RVT_TANDEM_REG_FULL] = { "register", { F_REG, F_REG_DATA } },
	[RVT_TANDEM_REG_ADD] = { "register add", { F_REG, F_OFFSET } },
	[RVT_TANDEM_REG_OR] = { "register or", { F_REG, F_MASK } },
	[RVT_TANDEM_STATE] = { "state", { F_STATE_ID, F_STATE_DATA } },
	[RVT_TANDEM_MEM_REQ] = { "memory request", { F_ADDR, F_MEM_OP, F_REQ_DATA } },
	[RVT_TANDEM_MEM_RSP] = { "memory response", { F_MEM_RESULT, F_RSP_DATA } },
	[RVT_TANDEM_RESET] = { "hart reset", { F_NONE } },
	[RVT_TANDEM_STATE_INIT] = { "state initialization", { F_NONE } },
	[RVT_TANDEM_INSN16] = { "instruction", { F_INSN16 } },
	[RVT_TANDEM_INSN32] = { "instruction", { F_INSN32 } },
};

static const char *const mem_ops[RVT_TANDEM_MEM_OPS] = {
	"load", "store", "lr", "sc", "amoswap", "amoadd", "amoxor", "amoand", "amoor", "amomin",
	"amomax", "amominu", "amomaxu", "fetch",
};

/* Which operations carry data in the request, and which in the response. */
#define OP(name) (1u << RVT_TANDEM_##name)
#define MEM_OPS_AMO (0x1fffu & ~0xfu)
#define MEM_OPS_STORING (OP(STORE) | OP(SC) | MEM_OPS_AMO)
#define MEM_OPS_LOADING (OP(LOAD) | OP(LR) | OP(FETCH) | MEM_OPS_AMO)

enum state_len { S_UNDEFINED, S_8, S_16, S_32, S_64, S_MLEN, S_XLEN };

static const struct {
	const char *name;
	enum state_len len;
} states[RVT_TANDEM_STATE_IDS] = {
	[RVT_TANDEM_PRIV] = { "privilege", S_8 },
	[RVT_TANDEM_PADDR] = { "physical address", S_MLEN },
	[RVT_TANDEM_EADDR] = { "effective address", S_MLEN },
	[RVT_TANDEM_STORE8] = { "store data 8", S_8 },
	[RVT_TANDEM_STORE16] = { "store data 16", S_16 },
	[RVT_TANDEM_STORE32] = { "store data 32", S_32 },
	[RVT_TANDEM_STORE64] = { "store data 64", S_64 },
	[RVT_TANDEM_MTIME] = { "mtime", S_64 },
	[RVT_TANDEM_PC_PADDR] = { "pc physical address", S_MLEN },
	[RVT_TANDEM_PC] = { "pc", S_XLEN },
};

/* The pc's identifier is 10; the tables of app. C print it as the byte 10, which is 16. */
#define STATE_PC_AS_PRINTED 0x10

static const char *const problems[RVT_TANDEM_PROBLEMS] = {
	[RVT_TANDEM_OK] = "no problem",
	[RVT_TANDEM_ORPHAN_END] = "end group without begin group",
	[RVT_TANDEM_NESTED_BEGIN] = "begin group within a group (taken as an implied end group)",
	[RVT_TANDEM_OPEN_AT_END] = "the trace ends within a group",
	[RVT_TANDEM_QUIRK] = "bytes as printed in appendix C, against the text",
	[RVT_TANDEM_INC_PC_ALONE] = "increment pc outside a group with an instruction",
	[RVT_TANDEM_ORPHAN_RSP] = "memory response that does not follow a memory request",
	[RVT_TANDEM_RSP_SIZE] = "memory response of another size than its request",
	[RVT_TANDEM_INIT_MIXED] = "state initialization together with an instruction or a reset",
	[RVT_TANDEM_INIT_ALONE] = "state initialization outside a group",
	[RVT_TANDEM_AMBIGUOUS] = "ambiguous: a second instruction or value in one group",
	[RVT_TANDEM_BAD_OPCODE] = "undefined opcode",
	[RVT_TANDEM_BAD_REGISTER] = "undefined register address",
	[RVT_TANDEM_BAD_STATE_ID] = "undefined identifier of additional state",
	[RVT_TANDEM_BAD_MEM] = "undefined memory operation, size or result",
	[RVT_TANDEM_TRUNCATED] = "the trace ends within a field",
};

void rvt_tandem_params_init(struct rvt_tandem_params *params, unsigned int xlen)
{
	params->xlen = xlen;
	params->flen = 64;
	params->ilen = 32;
	params->mlen = xlen == 32 ? 34 : 64;
	params->text = RVT_TANDEM_CHAPTER_2;
}

int rvt_tandem_params_check(const struct rvt_tandem_params *params)
{
	if ((params->xlen != 32 && params->xlen != 64) ||
	    (params->flen != 32 && params->flen != 64) ||
	    (params->ilen != 16 && params->ilen != 32) ||
	    (params->mlen != 32 && params->mlen != 34 && params->mlen != 64))
		return -EINVAL;
	return 0;
}

static bool op_defined(const struct rvt_tandem_params *params, unsigned int op)
{
	if (op == RVT_TANDEM_INSN32 && params->ilen < 32)
		return false;
	return op < RVT_TANDEM_OPS && opcodes[op].name;
}

/* What makes a record impossible, judged from @field. */
static enum rvt_tandem_problem check(const struct rvt_tandem_record *record, enum field field)
{
	switch (field) {
	case F_REG:
		return record->reg >= RVT_TANDEM_REGS ? RVT_TANDEM_BAD_REGISTER : RVT_TANDEM_OK;
	case F_STATE_ID:
		return record->state_id >= RVT_TANDEM_STATE_IDS || !states[record->state_id].len ?
			RVT_TANDEM_BAD_STATE_ID : RVT_TANDEM_OK;
	case F_MEM_OP:
		return record->mem_size > 3 || record->mem_op >= RVT_TANDEM_MEM_OPS ?
			RVT_TANDEM_BAD_MEM : RVT_TANDEM_OK;
	case F_MEM_RESULT:
		return record->mem_size > 3 || record->mem_result > 1 ?
			RVT_TANDEM_BAD_MEM : RVT_TANDEM_OK;
	default:
		return RVT_TANDEM_OK;
	}
}

static unsigned int state_bytes(const struct rvt_tandem_params *params, unsigned int id)
{
	switch (states[id].len) {
	case S_8: return 1;
	case S_16: return 2;
	case S_32: return 4;
	case S_64: return 8;
	case S_MLEN: return (params->mlen + 7) / 8;
	case S_XLEN: return params->xlen / 8;
	default: return 0;
	}
}

static unsigned int field_bytes(const struct rvt_tandem_params *params,
				const struct rvt_tandem_record *record, enum field field)
{
	switch (field) {
	case F_NONE:
		return 0;
	case F_REG:
	case F_INSN16:
		return 2;
	case F_REG_DATA:
		return (record->reg >= RVT_TANDEM_FPR ? params->flen : params->xlen) / 8;
	case F_OFFSET:
	case F_MASK:
	case F_STATE_ID:
	case F_MEM_OP:
	case F_MEM_RESULT:
		return 1;
	case F_STATE_DATA:
		return state_bytes(params, record->state_id);
	case F_ADDR:
		return (params->mlen + 7) / 8;
	case F_REQ_DATA:
		return MEM_OPS_STORING >> record->mem_op & 1 ? 1u << record->mem_size : 0;
	case F_RSP_DATA:
		return MEM_OPS_LOADING >> record->mem_op & 1 ? 1u << record->mem_size : 0;
	case F_INSN32:
		return 4;
	}
	return 0;
}

static uint64_t get_field(const struct rvt_tandem_params *params,
			  const struct rvt_tandem_record *record, enum field field)
{
	switch (field) {
	case F_REG: return record->reg;
	case F_STATE_ID:
		return record->state_id == RVT_TANDEM_PC && params->text == RVT_TANDEM_APPENDIX_C ?
			STATE_PC_AS_PRINTED : record->state_id;
	case F_ADDR: return record->addr;
	case F_MEM_OP: return record->mem_op | record->mem_size << 4;
	case F_MEM_RESULT: return record->mem_size | record->mem_result << 4;
	default: return record->value;
	}
}

static void set_field(struct rvt_tandem_record *record, enum field field, uint64_t value)
{
	switch (field) {
	case F_REG:
		record->reg = value;
		break;
	case F_STATE_ID:
		record->state_id = value;
		if (value == STATE_PC_AS_PRINTED) {
			record->state_id = RVT_TANDEM_PC;
			record->quirks |= RVT_TANDEM_QUIRK_PC_ID;
		}
		break;
	case F_ADDR:
		record->addr = value;
		break;
	case F_MEM_OP:
		record->mem_op = value & 0xf;
		record->mem_size = value >> 4;
		break;
	case F_MEM_RESULT:
		record->mem_size = value & 0xf;
		record->mem_result = value >> 4;
		break;
	case F_OFFSET:
		record->value = (uint64_t)(int64_t)(int8_t)value;
		break;
	default:
		record->value = value;
	}
}

static uint64_t load_le(const uint8_t *bytes, unsigned int n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | bytes[n];
	return value;
}

static void store_le(uint8_t *bytes, unsigned int n, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		bytes[i] = value >> 8 * i;
}

int rvt_tandem_encode(const struct rvt_tandem_params *params,
		      const struct rvt_tandem_record *record, uint8_t *out)
{
	const enum field *field;
	unsigned int n, len = 0;

	if (!op_defined(params, record->op))
		return -EINVAL;
	out[len++] = params->text == RVT_TANDEM_APPENDIX_C &&
		record->quirks & RVT_TANDEM_QUIRK_INSN16 ? RVT_TANDEM_INSN16 : record->op;
	for (field = opcodes[record->op].fields; *field; field++) {
		if (check(record, *field))
			return -EINVAL;
		n = field_bytes(params, record, *field);
		store_le(out + len, n, get_field(params, record, *field));
		len += n;
	}
	return len;
}

/* A 16-bit instruction never ends in binary 11: what does is longer (app. C, table C.5). */
static enum field insn_field(const struct rvt_tandem_params *params, const uint8_t *bytes,
			     size_t len, struct rvt_tandem_record *record)
{
	if (params->ilen >= 32 && len >= 2 && (bytes[1] & 3) == 3) {
		record->quirks |= RVT_TANDEM_QUIRK_INSN16;
		record->op = RVT_TANDEM_INSN32;
		return F_INSN32;
	}
	return F_INSN16;
}

int rvt_tandem_decode(const struct rvt_tandem_params *params, const uint8_t *bytes, size_t len,
		      const struct rvt_tandem_record *request, struct rvt_tandem_record *record,
		      enum rvt_tandem_problem *problem)
{
	const enum field *next;
	enum field field;
	unsigned int n, used = 1;

	memset(record, 0, sizeof(*record));
	*problem = RVT_TANDEM_TRUNCATED;
	if (!len)
		return -EBADMSG;
	record->op = bytes[0];
	*problem = RVT_TANDEM_BAD_OPCODE;
	if (!op_defined(params, record->op))
		return -EBADMSG;
	if (record->op == RVT_TANDEM_MEM_RSP && request && request->op == RVT_TANDEM_MEM_REQ)
		record->mem_op = request->mem_op;
	for (next = opcodes[record->op].fields; *next; next++) {
		field = *next == F_INSN16 ? insn_field(params, bytes, len, record) : *next;
		n = field_bytes(params, record, field);
		*problem = RVT_TANDEM_TRUNCATED;
		if (n > len - used)
			return -EBADMSG;
		if (n)
			set_field(record, field, load_le(bytes + used, n));
		used += n;
		*problem = check(record, field);
		if (*problem)
			return -EBADMSG;
	}
	*problem = RVT_TANDEM_OK;
	record->len_bytes = used;
	return used;
}

size_t rvt_tandem_access_stored(const struct rvt_tandem_access *access, uint64_t *bytes)
{
	unsigned int bits = 8u << access->mem_size;
	uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
	uint64_t old = access->load_data & mask, arg = access->store_data & mask;
	uint64_t top = UINT64_C(1) << (bits - 1);
	/* signed comparison by way of a shifted range */
	bool less = (old ^ top) < (arg ^ top);

	if (!(MEM_OPS_STORING >> access->mem_op & 1) || access->result)
		return 0;
	if (MEM_OPS_AMO >> access->mem_op & 1 && !access->has_response &&
	    access->mem_op != RVT_TANDEM_AMO_SWAP)
		return 0;
	switch (access->mem_op) {
	case RVT_TANDEM_AMO_ADD: arg = old + arg; break;
	case RVT_TANDEM_AMO_XOR: arg = old ^ arg; break;
	case RVT_TANDEM_AMO_AND: arg = old & arg; break;
	case RVT_TANDEM_AMO_OR: arg = old | arg; break;
	case RVT_TANDEM_AMO_MIN: arg = less ? old : arg; break;
	case RVT_TANDEM_AMO_MAX: arg = less ? arg : old; break;
	case RVT_TANDEM_AMO_MINU: arg = old < arg ? old : arg; break;
	case RVT_TANDEM_AMO_MAXU: arg = old < arg ? arg : old; break;
	default: break;
	}
	*bytes = arg & mask;
	return bits / 8;
}

const char *rvt_tandem_op_name(unsigned int op)
{
	return op < RVT_TANDEM_OPS && opcodes[op].name ? opcodes[op].name : "?";
}

const char *rvt_tandem_mem_op_name(unsigned int op)
{
	return op < RVT_TANDEM_MEM_OPS ? mem_ops[op] : "?";
}

const char *rvt_tandem_state_name(unsigned int id)
{
	return id < RVT_TANDEM_STATE_IDS && states[id].name ? states[id].name : "?";
}

const char *rvt_tandem_problem_name(enum rvt_tandem_problem problem)
{
	return (unsigned int)problem < RVT_TANDEM_PROBLEMS ? problems[problem] : "?";
}

void rvt_tandem_print(FILE *out, const struct rvt_tandem_params *params,
		      const struct rvt_tandem_record *record)
{
	char buf[16];
	int digits = params->xlen / 4;

	fprintf(out, "%s", rvt_tandem_op_name(record->op));
	switch (record->op) {
	case RVT_TANDEM_REG_FULL:
		fprintf(out, " %s = 0x%0*jx", rvt_tandem_reg_name(record->reg, buf),
			record->reg >= RVT_TANDEM_FPR ? (int)params->flen / 4 : digits,
			(uintmax_t)record->value);
		break;
	case RVT_TANDEM_REG_ADD:
		fprintf(out, " %s += %jd", rvt_tandem_reg_name(record->reg, buf),
			(intmax_t)record->value);
		break;
	case RVT_TANDEM_REG_OR:
		fprintf(out, " %s |= 0x%02jx", rvt_tandem_reg_name(record->reg, buf),
			(uintmax_t)record->value);
		break;
	case RVT_TANDEM_STATE:
		fprintf(out, " %s = 0x%jx%s", rvt_tandem_state_name(record->state_id),
			(uintmax_t)record->value,
			record->quirks & RVT_TANDEM_QUIRK_PC_ID ? " (identifier 0x10)" : "");
		break;
	case RVT_TANDEM_MEM_REQ:
		fprintf(out, " %s %u @0x%jx", rvt_tandem_mem_op_name(record->mem_op),
			8u << record->mem_size, (uintmax_t)record->addr);
		if (MEM_OPS_STORING >> record->mem_op & 1)
			fprintf(out, " data 0x%jx", (uintmax_t)record->value);
		break;
	case RVT_TANDEM_MEM_RSP:
		fprintf(out, " %u %s", 8u << record->mem_size,
			record->mem_result ? "failure" : "success");
		if (MEM_OPS_LOADING >> record->mem_op & 1)
			fprintf(out, " data 0x%jx", (uintmax_t)record->value);
		break;
	case RVT_TANDEM_INSN16:
		fprintf(out, " %04jx", (uintmax_t)record->value);
		break;
	case RVT_TANDEM_INSN32:
		fprintf(out, " %08jx%s", (uintmax_t)record->value,
			record->quirks & RVT_TANDEM_QUIRK_INSN16 ? " (opcode 16)" : "");
		break;
	default:
		break;
	}
}
