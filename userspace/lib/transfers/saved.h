/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Inside this project: where a struct rvt_transfers is, as numbers, to go on from there some other
 * time: in a session that is decoded from the same place on.
 */
#ifndef TRANSFERS_SAVED_H
#define TRANSFERS_SAVED_H

#include <rvtrace/transfers.h>
#include "util/words.h"

/*
 * From now on nothing is told and stacks stay as they are, while states of hart flows change; or it
 * is told again.
 */
void rvt_transfers_mute(struct rvt_transfers *transfers, bool muted);

/*
 * rvt_transfers_save - calls @keep for each thread with its stack, and for what belongs to none.
 * @key is the same each time, and less than RVT_TRANSFERS_KEYS; keys of threads rise from the first
 * on by one. 0, -ENOMEM, or what @keep returned.
 * rvt_transfers_load - one of these, into a struct rvt_transfers that has seen nothing, by rising
 * keys. 0, -EBADMSG or -ENOMEM.
 */
#define RVT_TRANSFERS_KEYS (UINT64_C(1) << 40)
int rvt_transfers_save(const struct rvt_transfers *transfers,
		       int (*keep)(void *ctx, uint64_t key, const struct words *words), void *ctx);
int rvt_transfers_load(struct rvt_transfers *transfers, uint64_t key, struct words *words);

/*
 * The same for a hart flow: what was lost on it, and who ran on it, is taken over from @words, the
 * rest must be as it is there. 0; -EAGAIN: it is not; -ENOMEM.
 */
void rvt_transfers_save_hart(const struct rvt_hart_flow *hart, struct words *words);
int rvt_transfers_load_hart(struct rvt_transfers *transfers, struct rvt_hart_flow *hart,
			    struct words *words);

#endif
