/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of `perf-rvtrace tandem` share. */
#ifndef PERF_RVTRACE_TANDEM_H
#define PERF_RVTRACE_TANDEM_H

#include <rvtrace/tandem.h>

/* Parses an option that every tandem subcommand takes. Returns 0, or -EINVAL after a message. */
int tandem_param(struct rvt_tandem_params *params, int option, const char *value);

int tandem_show(int argc, char **argv);
int tandem_from_elf(int argc, char **argv);
int tandem_verify(int argc, char **argv);
int tandem_to_truth(int argc, char **argv);

/* The golden model on Unicorn. Returns 0, -ENOTSUP when this build has none, -ENOMEM or -EINVAL. */
int tandem_unicorn_create(const struct rvt_tandem_params *params,
			  const struct rvt_tandem_verifier_ops **ops, void **ctx);
void tandem_unicorn_destroy(void *ctx);
/* Returns the correction that the last execute needed, or NULL. For tests. */
struct tandem_correction;
const struct tandem_correction *tandem_unicorn_correction(const void *ctx);

#endif
