/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Keeps whether a hart is watched, and its log. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ctr.h"

#define LOG_BUFFER (4u << 20)

struct ctr_args args = { .max_depth = CTR_MAX_DEPTH, .options = DRAFT_OPTIONS, .types = true };
struct hart harts[CTR_MAX_HARTS];
struct qemu_plugin_scoreboard *attentions;

void log_open(unsigned int vcpu)
{
	char path[4096];

	if (!args.log_dir || vcpu >= CTR_MAX_HARTS || harts[vcpu].log)
		return;
	snprintf(path, sizeof(path), "%s/ctr.%u", args.log_dir, vcpu);
	harts[vcpu].log = fopen(path, "w");
	if (!harts[vcpu].log) {
		fprintf(stderr, "rvtrace-ctr: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	setvbuf(harts[vcpu].log, NULL, _IOFBF, LOG_BUFFER);
}

void log_close(void)
{
	for (unsigned int i = 0; i < CTR_MAX_HARTS; i++)
		if (harts[i].log)
			fclose(harts[i].log);
}

void log_put(struct hart *h, const struct ctr_log *record)
{
	if (h->log && fwrite(record, sizeof(*record), 1, h->log) != 1) {
		fprintf(stderr, "rvtrace-ctr: cannot write the log: %s\n", strerror(errno));
		exit(1);
	}
}

void control_written(unsigned int vcpu, uint64_t control, uint64_t modes)
{
	struct hart *h = &harts[vcpu];
	bool on = control & modes;

	if (on && !attention_of(vcpu)->on) {
		h->pending = NULL;
		h->prv = (uint8_t)reg_get(REG_PRIV) & 3;
		h->next_overflow = h->insns + args.overflow;
	}
	h->control = control;
	attention_of(vcpu)->on = on;
	attention_of(vcpu)->due = 0;
}
