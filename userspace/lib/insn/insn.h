/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside librvtrace: the classifier with the custom-instruction hook.
 */
#ifndef RVT_LIB_INSN_H
#define RVT_LIB_INSN_H

#include <stdbool.h>
#include <rvtrace/insn.h>

static inline bool rvt_insn_is_link(unsigned int reg, unsigned int isa)
{
	return reg == 1 || (reg == 5 && !(isa & RVT_ISA_X1_LINK));
}

/*
 * rvt_insn_classify - rvt_insn_decode(), but @hook (may be NULL) is asked first about encodings
 * of the custom and reserved spaces. Same return values.
 */
int rvt_insn_classify(const uint8_t *code, size_t avail, unsigned int isa, rvt_insn_hook hook,
		      void *hook_ctx, struct rvt_insn *insn);

#endif
