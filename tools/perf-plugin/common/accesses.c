// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include "common/accesses.h"

/* Adds a number, or "-" if it is not known. Returns the length. */
static size_t put_number(char *text, size_t size, bool valid, uint64_t number)
{
	return valid ? snprintf(text, size, " %" PRIx64, number) : snprintf(text, size, " -");
}

void access_text(const struct rvt_access *access, char text[ACCESS_TEXT_SIZE])
{
	const size_t size = ACCESS_TEXT_SIZE;
	size_t len = snprintf(text, size, "%s", rvt_access_kind_name(access->kind));

	len += access->bytes ? snprintf(text + len, size - len, " %u", access->bytes) :
			       snprintf(text + len, size - len, " -");
	len += put_number(text + len, size - len, access->address_valid, access->address);
	len += put_number(text + len, size - len, access->value_valid, access->value);
	if (access->operation != RVT_ACCESS_PLAIN) {
		len += snprintf(text + len, size - len, " %s",
				rvt_access_operation_name(access->operation));
		len += put_number(text + len, size - len, access->operand_valid, access->operand);
	}
	snprintf(text + len, size - len, "%s%s", access->error ? " error" : "",
		 access->multiple ? " multiple" : "");
}
