/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Arithmetic of the F and D extensions (version 2.2) in integers: IEEE 754 binary32 and binary64,
 * tininess after rounding, canonical NaNs. It asks no floating-point unit, so that a golden model
 * has a second source besides its engine.
 *
 * Values are bit patterns; a binary32 value is in the lower 32 bits, the upper ones are ignored and
 * zero in results. Operations or exception flags (fflags) to *@flags.
 */
#ifndef RVTRACE_TANDEM_FLOAT_H
#define RVTRACE_TANDEM_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum tandem_float_flag {
	TANDEM_NX = 1, TANDEM_UF = 2, TANDEM_OF = 4, TANDEM_DZ = 8, TANDEM_NV = 16,
};

enum tandem_rounding { TANDEM_RNE, TANDEM_RTZ, TANDEM_RDN, TANDEM_RUP, TANDEM_RMM };

/* An exponent of 8 or 11 bits, a fraction of 23 or 52. */
struct tandem_format {
	unsigned int exponent_bits, fraction_bits;
};

extern const struct tandem_format rvt_tandem_binary32, rvt_tandem_binary64;

/* How an operation rounds, and what it raised. */
struct tandem_float_env {
	enum tandem_rounding rounding;
	unsigned int flags;
};

uint64_t rvt_tandem_float_nan(const struct tandem_format *f);
uint64_t rvt_tandem_float_add(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b);
uint64_t rvt_tandem_float_mul(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b);
uint64_t rvt_tandem_float_div(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b);
uint64_t rvt_tandem_float_sqrt(const struct tandem_format *f, struct tandem_float_env *env,
			       uint64_t a);
/* a * b + c, rounded once. */
uint64_t rvt_tandem_float_fma(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b, uint64_t c);
/* fmin and fmax: minimumNumber and maximumNumber of IEEE 754-2019 (F 2.2). */
uint64_t rvt_tandem_float_min_max(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b, bool max);
bool rvt_tandem_float_eq(const struct tandem_format *f, struct tandem_float_env *env, uint64_t a,
		     uint64_t b);
/* flt, and fle if @or_equal. */
bool rvt_tandem_float_less(const struct tandem_format *f, struct tandem_float_env *env, uint64_t a,
		       uint64_t b, bool or_equal);
/* The mask of fclass. */
uint64_t rvt_tandem_float_class(const struct tandem_format *f, uint64_t a);
/* The bit pattern with its sign turned round. */
uint64_t rvt_tandem_float_negate(const struct tandem_format *f, uint64_t a);
uint64_t rvt_tandem_float_convert(const struct tandem_format *from, const struct tandem_format *to,
			      struct tandem_float_env *env, uint64_t a);
/* To an integer of 32 or 64 @bits, not yet extended to a register. */
uint64_t rvt_tandem_float_to_int(const struct tandem_format *f, struct tandem_float_env *env,
			     uint64_t a, unsigned int bits, bool is_signed);
uint64_t rvt_tandem_float_from_int(const struct tandem_format *f, struct tandem_float_env *env,
			       uint64_t value, bool is_signed);

#endif
