/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside the flow engine: the branch predictor of an encoder (E-Trace 2.0, "Branch prediction"),
 * which the decoder keeps as the encoder does. An entry has two bits, the prediction and the latest
 * outcome. Two equal outcomes in a row, and only they, change the prediction.
 */
#ifndef RVT_LIB_FLOW_PREDICTIONS_H
#define RVT_LIB_FLOW_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvt_predictions {
	uint8_t *entries;	/* bit 1: predicted; bit 0: latest outcome; 1: taken. NULL: none */
	uint32_t mask;		/* of their numbers */
	unsigned int shift;	/* that makes a number of an address */
};

/* No more entries than this are told apart by what segments keep of an address. */
#define RVT_PREDICTIONS_MAX_BITS 15

/*
 * What becomes of an entry, as a map from old to new: two bits for each old one. Maps are composed
 * by rvt_prediction_then().
 */
#define RVT_PREDICTION_SAME 0xe4u
#define RVT_PREDICTION_NOT_TAKEN 0x80u
#define RVT_PREDICTION_TAKEN 0xfdu

static inline unsigned int rvt_prediction_map(bool taken)
{
	return taken ? RVT_PREDICTION_TAKEN : RVT_PREDICTION_NOT_TAKEN;
}

static inline unsigned int rvt_prediction_after(unsigned int map, unsigned int entry)
{
	return map >> 2 * entry & 3;
}

static inline unsigned int rvt_prediction_then(unsigned int first, unsigned int second)
{
	unsigned int map = 0;

	for (unsigned int entry = 0; entry < 4; entry++)
		map |= rvt_prediction_after(second, rvt_prediction_after(first, entry)) <<
		       2 * entry;
	return map;
}

static inline uint8_t *rvt_prediction_at(const struct rvt_predictions *p, uint64_t pc)
{
	return &p->entries[pc >> p->shift & p->mask];
}

/* What segments keep of the address of a branch, and the entry of that. */
static inline uint16_t rvt_prediction_short(uint64_t pc)
{
	return pc >> 1;
}

static inline uint32_t rvt_prediction_number(const struct rvt_predictions *p, uint16_t of)
{
	return (uint32_t)of >> (p->shift - 1) & p->mask;
}

/* A branch went so. */
static inline void rvt_prediction_note(uint8_t *entry, bool taken)
{
	*entry = rvt_prediction_after(rvt_prediction_map(taken), *entry);
}

#endif
