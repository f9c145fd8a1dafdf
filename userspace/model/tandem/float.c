// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* IEEE 754 arithmetic in integers; see float.h. */
#include "model/tandem/float.h"

typedef unsigned __int128 u128;

const struct tandem_format rvt_tandem_binary32 = { 8, 23 }, rvt_tandem_binary64 = { 11, 52 };

enum kind { FINITE, INFINITE, QUIET, SIGNALLING };

/* FINITE: the value is significand * 2^exponent. */
struct number {
	enum kind kind;
	bool negative;
	int exponent;
	u128 significand;
};

static uint64_t fraction_mask(const struct tandem_format *f)
{
	return (UINT64_C(1) << f->fraction_bits) - 1;
}

static unsigned int exponent_mask(const struct tandem_format *f)
{
	return (1u << f->exponent_bits) - 1;
}

static int bias(const struct tandem_format *f)
{
	return exponent_mask(f) >> 1;
}

static uint64_t sign_bit(const struct tandem_format *f)
{
	return UINT64_C(1) << (f->exponent_bits + f->fraction_bits);
}

static uint64_t infinity(const struct tandem_format *f, bool negative)
{
	return (negative ? sign_bit(f) : 0) | (uint64_t)exponent_mask(f) << f->fraction_bits;
}

static uint64_t zero(const struct tandem_format *f, bool negative)
{
	return negative ? sign_bit(f) : 0;
}

uint64_t rvt_tandem_float_nan(const struct tandem_format *f)
{
	return infinity(f, false) | UINT64_C(1) << (f->fraction_bits - 1);
}

uint64_t rvt_tandem_float_negate(const struct tandem_format *f, uint64_t a)
{
	return (a ^ sign_bit(f)) & (sign_bit(f) | (sign_bit(f) - 1));
}

static struct number unpack(const struct tandem_format *f, uint64_t bits)
{
	unsigned int exponent = bits >> f->fraction_bits & exponent_mask(f);
	uint64_t fraction = bits & fraction_mask(f);
	struct number n = { .negative = bits & sign_bit(f) };

	if (exponent == exponent_mask(f)) {
		n.kind = !fraction ? INFINITE : fraction >> (f->fraction_bits - 1) ? QUIET :
			SIGNALLING;
		return n;
	}
	n.significand = fraction | (uint64_t)!!exponent << f->fraction_bits;
	n.exponent = (int)(exponent ? exponent : 1) - bias(f) - (int)f->fraction_bits;
	return n;
}

static bool is_nan(const struct number *n)
{
	return n->kind == QUIET || n->kind == SIGNALLING;
}

static bool is_zero(const struct number *n)
{
	return n->kind == FINITE && !n->significand;
}

static int top_bit(u128 value)
{
	uint64_t high = value >> 64;

	return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)value);
}

/* Shifts right; the lowest bit is also set when set bits are lost. */
static u128 shift_right_jam(u128 value, unsigned int by)
{
	if (by > 127)
		return !!value;
	return value >> by | !!(value & (((u128)1 << by) - 1));
}

/* Whether the magnitude is rounded up, given its lowest kept bit and what lies below. */
static bool round_up(enum tandem_rounding mode, bool negative, bool odd, u128 rest, u128 half)
{
	switch (mode) {
	case TANDEM_RNE: return rest > half || (rest == half && odd);
	case TANDEM_RDN: return negative && rest;
	case TANDEM_RUP: return !negative && rest;
	case TANDEM_RMM: return rest >= half;
	default: return false;
	}
}

/* @value / 2^@shift, rounded; *@inexact: whether that changed it. */
static u128 round_shift(u128 value, int shift, enum tandem_rounding mode, bool negative,
			bool *inexact)
{
	u128 kept, rest, half;

	*inexact = false;
	if (shift <= 0)
		return value << -shift;
	/* so far below that only its being there matters */
	if (shift > 126) {
		value = !!value;
		shift = 2;
	}
	kept = value >> shift;
	rest = value & (((u128)1 << shift) - 1);
	half = (u128)1 << (shift - 1);
	*inexact = rest;
	return kept + round_up(mode, negative, kept & 1, rest, half);
}

static uint64_t overflow(const struct tandem_format *f, struct tandem_float_env *env, bool negative)
{
	enum tandem_rounding mode = env->rounding;
	uint64_t inf = infinity(f, negative);

	env->flags |= TANDEM_OF | TANDEM_NX;
	if (mode == TANDEM_RTZ || (mode == TANDEM_RDN && !negative) ||
	    (mode == TANDEM_RUP && negative))
		return inf - 1;		/* the largest finite number */
	return inf;
}

/* Rounds significand * 2^exponent; its lowest bit may be jammed if it lies below the half. */
static uint64_t round_pack(const struct tandem_format *f, struct tandem_float_env *env,
			   bool negative, int exponent, u128 significand)
{
	int fraction = f->fraction_bits, least = 1 - bias(f), lowest, top;
	bool inexact, ignored, tiny;
	uint64_t bits;
	u128 kept;

	if (!significand)
		return zero(f, negative);
	top = exponent + top_bit(significand);
	/* tiny: rounded as if the exponent had no bounds, it is still below the normal numbers */
	tiny = top < least && !(top == least - 1 &&
		round_shift(significand, top - fraction - exponent, env->rounding, negative,
			    &ignored) >> (fraction + 1));
	lowest = (top < least ? least : top) - fraction;
	kept = round_shift(significand, lowest - exponent, env->rounding, negative, &inexact);
	if (lowest + fraction > bias(f) ||
	    (lowest + fraction == bias(f) && kept >> (fraction + 1)))
		return overflow(f, env, negative);
	/* a carry goes from the fraction into the exponent by itself */
	bits = ((uint64_t)(lowest + fraction + bias(f) - 1) << fraction) + (uint64_t)kept;
	if (inexact)
		env->flags |= TANDEM_NX | (tiny ? TANDEM_UF : 0);
	return zero(f, negative) | bits;
}

static uint64_t invalid(const struct tandem_format *f, struct tandem_float_env *env)
{
	env->flags |= TANDEM_NV;
	return rvt_tandem_float_nan(f);
}

/* The result when an operand is a NaN. */
static uint64_t propagate(const struct tandem_format *f, struct tandem_float_env *env,
			  const struct number *a, const struct number *b)
{
	if (a->kind == SIGNALLING || b->kind == SIGNALLING)
		env->flags |= TANDEM_NV;
	return rvt_tandem_float_nan(f);
}

/* Moves the top bit to @bit. */
static void normalise(struct number *n, int bit)
{
	int by;

	if (!n->significand)
		return;
	by = bit - top_bit(n->significand);
	n->significand = by >= 0 ? n->significand << by : n->significand >> -by;
	n->exponent -= by;
}

/* The sum of two finite numbers of at most 106 bits each. */
static uint64_t add_finite(const struct tandem_format *f, struct tandem_float_env *env,
			   struct number a, struct number b)
{
	struct number swap;
	u128 sum;

	if (is_zero(&a) && is_zero(&b))
		return zero(f, a.negative == b.negative ? a.negative :
			    env->rounding == TANDEM_RDN);
	normalise(&a, 125);
	normalise(&b, 125);
	if (is_zero(&a) || (!is_zero(&b) && a.exponent < b.exponent)) {
		swap = a;
		a = b;
		b = swap;
	}
	/* two bits apart or more, the sum keeps enough bits above the jammed one */
	if (!is_zero(&b))
		b.significand = shift_right_jam(b.significand, a.exponent - b.exponent);
	if (a.negative == b.negative) {
		sum = a.significand + b.significand;
	} else if (a.significand >= b.significand) {
		sum = a.significand - b.significand;
	} else {
		sum = b.significand - a.significand;
		a.negative = b.negative;
	}
	return sum ? round_pack(f, env, a.negative, a.exponent, sum) :
		zero(f, env->rounding == TANDEM_RDN);
}

static uint64_t add_numbers(const struct tandem_format *f, struct tandem_float_env *env,
			    const struct number *a, const struct number *b)
{
	if (is_nan(a) || is_nan(b))
		return propagate(f, env, a, b);
	if (a->kind == INFINITE && b->kind == INFINITE && a->negative != b->negative)
		return invalid(f, env);
	if (a->kind == INFINITE || b->kind == INFINITE)
		return infinity(f, a->kind == INFINITE ? a->negative : b->negative);
	return add_finite(f, env, *a, *b);
}

uint64_t rvt_tandem_float_add(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b)
{
	struct number left = unpack(f, a), right = unpack(f, b);

	return add_numbers(f, env, &left, &right);
}

/* The exact product, unless one is a NaN; QUIET: infinity times zero. */
static struct number multiply(const struct number *a, const struct number *b)
{
	struct number product = { .negative = a->negative != b->negative };

	if (a->kind == INFINITE || b->kind == INFINITE) {
		product.kind = is_zero(a) || is_zero(b) ? QUIET : INFINITE;
		return product;
	}
	product.significand = a->significand * b->significand;
	product.exponent = a->exponent + b->exponent;
	return product;
}

uint64_t rvt_tandem_float_mul(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b)
{
	struct number left = unpack(f, a), right = unpack(f, b), product;

	if (is_nan(&left) || is_nan(&right))
		return propagate(f, env, &left, &right);
	product = multiply(&left, &right);
	if (product.kind == QUIET)
		return invalid(f, env);
	if (product.kind == INFINITE)
		return infinity(f, product.negative);
	return round_pack(f, env, product.negative, product.exponent, product.significand);
}

uint64_t rvt_tandem_float_fma(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b, uint64_t c)
{
	struct number left = unpack(f, a), right = unpack(f, b), added = unpack(f, c), product;

	if (is_nan(&left) || is_nan(&right)) {
		if (added.kind == SIGNALLING)
			env->flags |= TANDEM_NV;
		return propagate(f, env, &left, &right);
	}
	product = multiply(&left, &right);
	/* invalid even if a quiet NaN is added (F, "Computational Instructions") */
	if (product.kind == QUIET)
		return invalid(f, env);
	return add_numbers(f, env, &product, &added);
}

uint64_t rvt_tandem_float_div(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b)
{
	struct number left = unpack(f, a), right = unpack(f, b);
	bool negative = left.negative != right.negative;
	u128 quotient;

	if (is_nan(&left) || is_nan(&right))
		return propagate(f, env, &left, &right);
	if ((left.kind == INFINITE && right.kind == INFINITE) ||
	    (is_zero(&left) && is_zero(&right)))
		return invalid(f, env);
	if (left.kind == INFINITE)
		return infinity(f, negative);
	if (right.kind == INFINITE || is_zero(&left))
		return zero(f, negative);
	if (is_zero(&right)) {
		env->flags |= TANDEM_DZ;
		return infinity(f, negative);
	}
	normalise(&left, 126);
	normalise(&right, 62);
	quotient = left.significand / right.significand;
	quotient = quotient << 1 | !!(left.significand % right.significand);
	return round_pack(f, env, negative, left.exponent - right.exponent - 1, quotient);
}

/* The largest integer whose square is not above @value. */
static uint64_t square_root(u128 value)
{
	uint64_t root = 0, bit;
	u128 tried;

	for (bit = UINT64_C(1) << 63; bit; bit >>= 1) {
		tried = root | bit;
		if (tried * tried <= value)
			root |= bit;
	}
	return root;
}

uint64_t rvt_tandem_float_sqrt(const struct tandem_format *f, struct tandem_float_env *env,
			       uint64_t a)
{
	struct number n = unpack(f, a);
	uint64_t root;

	if (is_nan(&n))
		return propagate(f, env, &n, &n);
	if (is_zero(&n))
		return zero(f, n.negative);
	if (n.negative)
		return invalid(f, env);
	if (n.kind == INFINITE)
		return infinity(f, false);
	normalise(&n, 125);
	if (n.exponent & 1) {
		n.significand >>= 1;	/* the lowest 19 bits and more are zero */
		n.exponent++;
	}
	root = square_root(n.significand);
	return round_pack(f, env, false, n.exponent / 2 - 1,
			  (u128)root << 1 | ((u128)root * root != n.significand));
}

/* -1, 0, 1; neither is a NaN. -0 equals +0. */
static int compare(const struct tandem_format *f, uint64_t a, uint64_t b)
{
	uint64_t sign = sign_bit(f), x = a & (sign - 1), y = b & (sign - 1);
	int64_t left = a & sign ? -(int64_t)x : (int64_t)x;
	int64_t right = b & sign ? -(int64_t)y : (int64_t)y;

	return left < right ? -1 : left > right;
}

uint64_t rvt_tandem_float_min_max(const struct tandem_format *f, struct tandem_float_env *env,
			      uint64_t a, uint64_t b, bool max)
{
	struct number left = unpack(f, a), right = unpack(f, b);
	uint64_t mask = sign_bit(f) | (sign_bit(f) - 1);
	int order;

	if (left.kind == SIGNALLING || right.kind == SIGNALLING)
		env->flags |= TANDEM_NV;
	if (is_nan(&left) && is_nan(&right))
		return rvt_tandem_float_nan(f);
	if (is_nan(&left) || is_nan(&right))
		return (is_nan(&left) ? b : a) & mask;
	order = compare(f, a, b);
	/* -0 is less than +0 here */
	if (!order)
		order = left.negative == right.negative ? 0 : left.negative ? -1 : 1;
	return ((order < 0) == max ? b : a) & mask;
}

bool rvt_tandem_float_eq(const struct tandem_format *f, struct tandem_float_env *env, uint64_t a,
		     uint64_t b)
{
	struct number left = unpack(f, a), right = unpack(f, b);

	if (is_nan(&left) || is_nan(&right)) {
		propagate(f, env, &left, &right);
		return false;
	}
	return !compare(f, a, b);
}

bool rvt_tandem_float_less(const struct tandem_format *f, struct tandem_float_env *env, uint64_t a,
		       uint64_t b, bool or_equal)
{
	struct number left = unpack(f, a), right = unpack(f, b);

	if (is_nan(&left) || is_nan(&right)) {
		env->flags |= TANDEM_NV;
		return false;
	}
	return compare(f, a, b) < or_equal;
}

uint64_t rvt_tandem_float_class(const struct tandem_format *f, uint64_t a)
{
	struct number n = unpack(f, a);
	bool normal;

	if (n.kind == QUIET)
		return 1u << 9;
	if (n.kind == SIGNALLING)
		return 1u << 8;
	if (n.kind == INFINITE)
		return n.negative ? 1u << 0 : 1u << 7;
	if (is_zero(&n))
		return n.negative ? 1u << 3 : 1u << 4;
	normal = n.significand >> f->fraction_bits;
	if (n.negative)
		return normal ? 1u << 1 : 1u << 2;
	return normal ? 1u << 6 : 1u << 5;
}

uint64_t rvt_tandem_float_convert(const struct tandem_format *from, const struct tandem_format *to,
			      struct tandem_float_env *env, uint64_t a)
{
	struct number n = unpack(from, a);

	if (is_nan(&n))
		return propagate(to, env, &n, &n);
	if (n.kind == INFINITE)
		return infinity(to, n.negative);
	return round_pack(to, env, n.negative, n.exponent, n.significand);
}

uint64_t rvt_tandem_float_to_int(const struct tandem_format *f, struct tandem_float_env *env,
			     uint64_t a, unsigned int bits, bool is_signed)
{
	struct number n = unpack(f, a);
	u128 limit, magnitude;
	bool inexact = false, negative = n.negative && !is_nan(&n);
	uint64_t largest = ~UINT64_C(0) >> (64 - bits + is_signed);

	/* a magnitude beyond 2^64 cannot be shifted, and is out of range anyway */
	if (n.kind == FINITE && n.significand && n.exponent + top_bit(n.significand) > 64)
		n.kind = INFINITE;
	magnitude = n.kind == FINITE ? round_shift(n.significand, -n.exponent, env->rounding,
						   negative, &inexact) : (u128)1 << 127;
	limit = !negative ? largest : is_signed ? (u128)largest + 1 : 0;
	if (magnitude > limit) {
		env->flags |= TANDEM_NV;
		return !negative ? largest : is_signed ? largest + 1 : 0;
	}
	if (inexact)
		env->flags |= TANDEM_NX;
	return negative ? -(uint64_t)magnitude : (uint64_t)magnitude;
}

uint64_t rvt_tandem_float_from_int(const struct tandem_format *f, struct tandem_float_env *env,
			       uint64_t value, bool is_signed)
{
	bool negative = is_signed && value >> 63;

	return round_pack(f, env, negative, 0, negative ? -value : value);
}
