// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: the tracepoints of trace.h. They have a file that calls nobody, so that every other
 * file can use them.
 */
#define CREATE_TRACE_POINTS
#include "trace.h"
