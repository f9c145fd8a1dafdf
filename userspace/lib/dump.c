// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Dumps: choice of the protocol.
 */
#include <errno.h>
#include "coresight/coresight.h"
#include "esp32/esp32.h"
#include "dump-ops.h"
#include "params/params.h"
#include "util/sized.h"

/* Without framing. */
static int create_plain(const struct rvt_params *params, unsigned int flags, FILE *out,
			struct rvt_dump **dump)
{
	const struct rvt_dump_ops *ops = NULL;
	int ret;

	if (params->protocol == RVT_PROTOCOL_NTRACE)
		ops = &rvt_ntrace_dump;
	else if (params->protocol == RVT_PROTOCOL_ETRACE)
		ops = &rvt_etrace_dump;
	if (!ops || params->framing || (params->xlen != 32 && params->xlen != 64))
		return -EINVAL;
	ret = ops->create(params, flags, out, dump);
	if (!ret)
		(*dump)->ops = ops;
	return ret;
}

int rvt_dump_create(const struct rvt_params *params, unsigned int flags, FILE *out,
		    struct rvt_dump **dump)
{
	struct rvt_params room;
	int ret;

	*dump = NULL;
	params = rvt_params_whole(params, &room);
	if (!params)
		return -EINVAL;
#ifndef HAVE_JSON
	if (flags & RVT_DUMP_JSON)
		return -ENOTSUP;
#endif
	switch (params->framing) {
	case RVT_FRAMING_CORESIGHT:
		ret = rvt_coresight_dump_create(params, flags, out, create_plain, dump);
		if (!ret)
			(*dump)->ops = &rvt_coresight_dump;
		return ret;
	case RVT_FRAMING_ESP32:
		ret = rvt_esp32_dump_create(params, flags, out, create_plain, dump);
		if (!ret)
			(*dump)->ops = &rvt_esp32_dump;
		return ret;
	default:
		return create_plain(params, flags, out, dump);
	}
}

void rvt_dump_destroy(struct rvt_dump *dump)
{
	if (dump)
		dump->ops->destroy(dump);
}

void rvt_dump_feed(struct rvt_dump *dump, const void *bytes, size_t len, uint64_t offset)
{
	dump->ops->feed(dump, bytes, len, offset);
}

void rvt_dump_lost(struct rvt_dump *dump, bool boundary)
{
	dump->ops->lost(dump, boundary);
}

void rvt_dump_finish(struct rvt_dump *dump)
{
	dump->ops->finish(dump);
}

int rvt_dump_stats(const struct rvt_dump *dump, struct rvt_dump_stats *stats)
{
	struct rvt_dump_stats full = { .size = sizeof(full) };

	dump->ops->stats(dump, &full);
	return sized_fill(stats, &full, sizeof(full));
}
