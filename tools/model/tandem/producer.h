/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The producer of tandem traces: a plugin of stock QEMU that writes all that one hart does. */
#ifndef TANDEM_PRODUCER_H
#define TANDEM_PRODUCER_H

#include <stdio.h>
#include <rvtrace/tandem.h>
#include "../qemu-plugin.h"

/* Parts of QEMU's interface that qemu-plugin.h leaves out. */
uint8_t *g_byte_array_free(GByteArray *array, int free_segment);
enum qemu_plugin_hwaddr_operation_result { QEMU_PLUGIN_HWADDR_OPERATION_OK };
enum qemu_plugin_hwaddr_operation_result
qemu_plugin_read_memory_hwaddr(uint64_t hwaddr, GByteArray *data, size_t len);
bool qemu_plugin_translate_vaddr(uint64_t vaddr, uint64_t *hwaddr);
void qemu_plugin_register_vcpu_insn_exec_cond_cb(struct qemu_plugin_insn *insn,
						 qemu_plugin_vcpu_udata_cb_t cb,
						 enum qemu_plugin_cb_flags flags,
						 enum qemu_plugin_cond cond, qemu_plugin_u64 entry,
						 uint64_t imm, void *userdata);

/* registers.c: the hart's current registers. */
int registers_init(void);
uint64_t register_now(unsigned int reg);
uint64_t register_pc(void);
uint64_t register_privilege(void);
bool register_exists(unsigned int reg);

/* output.c: writes records to the file. */
struct output {
	struct rvt_tandem_params params;
	FILE *file;
	bool failed;
};
int output_open(struct output *out, const char *path);
/* Returns 0, or -EIO when something could not be written. */
int output_close(struct output *out);
void put(struct output *out, const struct rvt_tandem_record *record);
void put_op(struct output *out, unsigned int op);
void put_state(struct output *out, unsigned int id, uint64_t value);
void put_register(struct output *out, unsigned int reg, uint64_t value);
void put_store(struct output *out, uint64_t addr, unsigned int size, uint64_t value);
/* Writes the page tables that satp points to, as state initialization. */
void put_page_tables(struct output *out, uint64_t satp);

#endif
