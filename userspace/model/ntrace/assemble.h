/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Message directives to bytes, for tests and experiments. Directives have the form of the dump:
 *
 *   IndirectBranchHist B-TYPE=0 I-CNT=12 U-ADDR=0x40 HIST=0b1_01 TSTAMP=7
 *
 * Fields of the message's table that are not given are 0. Values: decimal, 0x..., 0b..., '_' is
 * ignored. "@BITS" after the value of a variable field sends at least that many bits. SRC=N is
 * sent when the parameters have src_bits. Besides:
 *
 *   idle [COUNT]       0xff
 *   bytes HEX...       as they are: "bytes 70 d0 1f"
 */
#ifndef RVTRACE_NTRACE_ASSEMBLE_H
#define RVTRACE_NTRACE_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>
#include <rvtrace/params.h>

/*
 * rvt_ntrace_assemble - one directive, @line, to at most @size bytes. Blank lines and comments
 * (#) make none. Returns the number of bytes; -EINVAL with a sentence in @error; -ENOSPC.
 */
int rvt_ntrace_assemble(const struct rvt_params *params, const char *line, uint8_t *bytes,
			size_t size, char *error, size_t error_size);

#endif
