// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * E-Trace decoder: trap packets (format 3, subformat 1).
 */
#include <etrace/decoder-state.h>

/* Causes whose trap value is the address of the instruction that could not be executed. */
#define CAUSES_WITH_EPC_TVAL (1u << 0 | 1u << 1 | 1u << 3 | 1u << 12)
#define CAUSE_ILLEGAL 2

int rvt_etrace_deliver_trap(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			    struct rvt_event *trap, uint64_t handler)
{
	int ret = rvt_etrace_emit_time(dec);

	dec->trap.valid = false;
	dec->privilege = msg->field[RVT_ETRACE_F_PRIVILEGE];
	trap->target = handler;
	rvt_etrace_vector_learn(dec, trap);
	if (!ret)
		ret = rvt_flow_trap(dec->flow, trap);
	if (ret || !dec->started)
		return ret ? ret : rvt_etrace_begin(dec, msg, handler);
	return rvt_etrace_sync(dec, msg, handler);
}

static struct rvt_event trap_event(const struct rvt_etrace_decoder *dec,
				   const struct rvt_etrace_msg *msg)
{
	return (struct rvt_event){
		.type = RVT_EVENT_TRAP,
		.offset = dec->offset,
		.interrupt = msg->field[RVT_ETRACE_F_INTERRUPT],
		.cause_valid = true,
		.cause = msg->field[RVT_ETRACE_F_ECAUSE],
		.tval = rvt_etrace_has(msg, RVT_ETRACE_F_TVAL) ?
			rvt_etrace_extend_address(dec, msg->field[RVT_ETRACE_F_TVAL]) : 0,
	};
}

/* 0.029: the EPC, as far as tvalepc says it. */
static bool draft_epc(const struct rvt_event *trap, uint64_t *epc)
{
	*epc = trap->tval;
	return !trap->interrupt && trap->cause < 32 &&
	       (CAUSES_WITH_EPC_TVAL | 1u << CAUSE_ILLEGAL) >> trap->cause & 1;
}

/*
 * Executes what retired before the trap, and fills in the EPC: what follows the last retired
 * instruction, unless that is an uninferable jump; then @given, if there is one.
 */
static int find_epc(struct rvt_etrace_decoder *dec, struct rvt_event *trap, bool has_given,
		    uint64_t given)
{
	uint64_t pc = 0;
	bool known;
	int ret;

	trap->pc = has_given ? given : 0;
	if (!dec->started)
		return 0;
	ret = rvt_etrace_finish_pending(dec, &pc, &known);
	if (ret || !known)
		return ret;
	trap->pc = pc;
	return 0;
}

/* In implicit exception mode the handler is known from the cause. */
static int find_handler(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg,
			struct rvt_event *trap)
{
	const struct rvt_etrace_failure failure = {
		RVT_REASON_NO_SYNC, "no trap vector is known for this cause",
	};
	uint64_t handler;
	int ret;

	dec->privilege = msg->field[RVT_ETRACE_F_PRIVILEGE];
	if (rvt_etrace_has(msg, RVT_ETRACE_F_ADDRESS))
		return rvt_etrace_deliver_trap(dec, msg, trap, rvt_etrace_full_address(dec, msg));
	if (rvt_etrace_vector_find(dec, trap, &handler))
		return rvt_etrace_deliver_trap(dec, msg, trap, handler);
	ret = rvt_etrace_emit_time(dec);
	dec->started = true;
	trap->target = RVT_UNLIMITED;
	if (!ret)
		ret = rvt_flow_trap(dec->flow, trap);
	return ret ? ret : rvt_etrace_decoder_fail(dec, &failure);
}

int rvt_etrace_on_trap_draft(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_event trap = trap_event(dec, msg);
	bool has_epc;
	uint64_t epc;
	int ret;

	has_epc = draft_epc(&trap, &epc);
	if (trap.cause == CAUSE_ILLEGAL && has_epc)
		trap.tval = 0; /* tvalepc is the EPC instead */
	/* The first instruction of the handler before this one did not retire if it trapped. */
	if (dec->from_trap && has_epc && epc == dec->address)
		dec->pending = false;
	ret = find_epc(dec, &trap, has_epc, epc);
	if (ret)
		return ret;
	ret = find_handler(dec, msg, &trap);
	dec->from_trap = dec->started;
	return ret;
}

/* The last instruction executed jumped to where the program alone does not say. */
static bool after_uninferable(const struct rvt_etrace_decoder *dec)
{
	enum rvt_insn_class iclass;
	struct rvt_insn insn;
	uint64_t pc;

	return rvt_flow_last(dec->flow, &pc, &iclass) && !rvt_flow_peek_at(dec->flow, pc, &insn) &&
	       insn.iclass >= RVT_INSN_IND_CALL && insn.iclass <= RVT_INSN_TRAP_RETURN &&
	       !(insn.flags & RVT_INSN_F_ABSOLUTE);
}

int rvt_etrace_on_trap(struct rvt_etrace_decoder *dec, const struct rvt_etrace_msg *msg)
{
	struct rvt_event trap = trap_event(dec, msg);
	bool reported = msg->field[RVT_ETRACE_F_THADDR];
	bool after_trap = dec->trap.valid;
	uint64_t address = reported ? 0 : rvt_etrace_full_address(dec, msg);
	uint64_t epc = after_trap ? dec->trap.address : address;
	bool known = after_trap && dec->trap.has_address;
	int ret;

	if (after_trap) {
		/* The handler of the one before did not retire anything. */
		ret = rvt_etrace_drop_trap(dec);
		trap.pc = known ? epc : 0;
	} else {
		ret = find_epc(dec, &trap, !reported, epc);
		known = dec->started && !after_uninferable(dec);
	}
	if (ret)
		return ret;
	if (reported)
		return find_handler(dec, msg, &trap);
	/* Where an uninferable jump went is told, whatever modes would infer. */
	if (!after_trap && !known)
		trap.pc = address;
	dec->trap.valid = true;
	dec->trap.event = trap;
	/* It is the EPC after an uninferable jump, or at the beginning; else, as in 2.0.5, the
	 * handler, from which the next trap comes. 2.0 leaves it undefined. */
	dec->trap.has_address = (after_trap || known) && address &&
				dec->codec.params.trap_address == RVT_TRAP_ADDRESS_HANDLER;
	dec->trap.address = address;
	return rvt_etrace_emit_time(dec);
}
