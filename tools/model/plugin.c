/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Begins and ends the hardware model, as a plugin of QEMU. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "model.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv);

static void vcpu_init(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	pthread_mutex_lock(&model.lock);
	cpu_init();
	pthread_mutex_unlock(&model.lock);
	if (model.args.truth_all)
		hart_want(&harts[vcpu], false);
}

static void machine_exit(void *userdata)
{
	(void)userdata;
	regs_exit();
	harts_exit();
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	unsigned int n = (unsigned int)info->system.smp_vcpus;

	if (!info->system_emulation || strcmp(info->target_name, "riscv64")) {
		fprintf(stderr, "rvtrace-model: made for qemu-system-riscv64\n");
		return -EINVAL;
	}
	if (n > MODEL_MAX_HARTS) {
		fprintf(stderr, "rvtrace-model: at most %u harts\n", MODEL_MAX_HARTS);
		return -EINVAL;
	}
	if (args_parse(&model.args, argc, argv))
		return -EINVAL;
	translate_init();
	harts_init(n);
	if (regs_init() || coherence_init() || topology_build(n) || discovery_build(n))
		return -EINVAL;
	qemu_plugin_register_vcpu_init_cb(id, vcpu_init, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block, NULL);
	qemu_plugin_register_vcpu_discon_cb(id, QEMU_PLUGIN_DISCON_ALL, hart_discontinuity, NULL);
	qemu_plugin_register_atexit_cb(id, machine_exit, NULL);
	return 0;
}
