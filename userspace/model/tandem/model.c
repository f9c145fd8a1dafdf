// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The golden model's state, and which memory is its own. */
#include <errno.h>
#include "model/tandem/verify.h"

int rvt_tandem_model_write(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
			   uint64_t address, const void *data, size_t len)
{
	int ret = v->options->ops->write(v->options->ctx, space, address, data, len);

	return ret == -ENOENT ? 0 : ret;
}

int rvt_tandem_model_write_value(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
				 uint64_t address, uint64_t value)
{
	return rvt_tandem_model_write(v, space, address, &value, sizeof(value));
}

int rvt_tandem_model_read(struct rvt_tandem_verifier *v, enum rvt_tandem_space space,
			  uint64_t address, void *data, size_t len)
{
	return v->options->ops->read(v->options->ctx, space, address, data, len);
}

bool rvt_tandem_is_ram(const struct rvt_tandem_verifier *v, uint64_t addr)
{
	const struct rvt_tandem_verify_options *o = v->options;
	unsigned int i;

	for (i = 0; i < o->ram_len; i++)
		if (addr - o->ram[i].base < o->ram[i].size)
			return true;
	return !o->ram_len;
}

bool rvt_tandem_is_input(const struct rvt_tandem_verifier *v, uint64_t addr)
{
	return v->options->shared_memory || !rvt_tandem_is_ram(v, addr);
}
