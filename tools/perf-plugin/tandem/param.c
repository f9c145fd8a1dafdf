// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include "common/cmd.h"
#include "tandem/tandem.h"

int tandem_param(struct rvt_tandem_params *params, int option, const char *value)
{
	unsigned int *fields[] = {
		['x'] = &params->xlen, ['f'] = &params->flen, ['i'] = &params->ilen,
		['m'] = &params->mlen,
	};
	static const char *const names[] = {
		['x'] = "--xlen", ['f'] = "--flen", ['i'] = "--ilen", ['m'] = "--mlen",
	};
	uint64_t number;

	if (cmd_number(names[option], value, 16, 64, &number))
		return -EINVAL;
	if (option == 'x')
		rvt_tandem_params_init(params, number);
	*fields[option] = number;
	if (rvt_tandem_params_check(params))
		return cmd_error(-EINVAL,
				 "%s: XLEN and FLEN are 32 or 64, ILEN 16 or 32, MLEN 32, 34 or 64",
				 value);
	return 0;
}
