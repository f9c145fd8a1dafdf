/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Packet directives to bytes, for tests and experiments. Directives have the form of the dump:
 *
 *   diff-delta branches=3 branch_map=0x3 address=0xa4
 *
 * Fields of the packet's table that are not given are 0. Values: decimal, 0x..., and negative ones,
 * which are cut to the field. The words notify, updiscon and irreport flag what their fields tell;
 * without them those fields copy the preceding bit. not_taken is the branch at the address of a
 * synchronisation packet (branch=1 in 2.0). timestamp=N, flow=N and srcID=N belong to the
 * encapsulation. A support packet changes *params as it does those of a decoder. Besides:
 *
 *   null [COUNT]       null.idle packets
 *   align              a null.alignment packet
 *   bytes HEX...       as they are: "bytes 01 22"
 */
#ifndef RVTRACE_ETRACE_ASSEMBLE_H
#define RVTRACE_ETRACE_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/params.h>

/*
 * rvt_etrace_assemble - one directive, @line, to at most @size bytes. Blank lines and comments
 * (#) make none. Returns the number of bytes; -EINVAL with a sentence in @error; -ENOSPC.
 */
int rvt_etrace_assemble(struct rvt_params *params, const char *line, uint8_t *bytes, size_t size,
			char *error, size_t error_size);

#endif
