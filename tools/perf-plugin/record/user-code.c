// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Copies code of programs that is in no file, while it exists. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <rvtrace/user-code.h>
#include "common/cmd.h"
#include "record/bpf-output.h"
#include "record/code.h"
#include "record/record.h"

#ifdef HAVE_LIBBPF
#include "bpf/load.h"
#include "bpf/user-code.h"

static const uint32_t first;

/* Sets the programs' only constant: whether they are compiled. */
static void set_constants(struct bpf_object *object)
{
	const uint32_t compiled = bpf_is_compiled();
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		if (strstr(bpf_map__name(map), ".rodata"))
			bpf_map__set_initial_value(map, &compiled, sizeof(compiled));
}

static int load(struct recorder *rec)
{
	const bool chosen = rec->target != TARGET_SYSTEM;
	struct bpf_output *output = &rec->user_code;
	const struct user_code_budget budget = { .limit = rec->options.copy_bytes,
						 .chosen = chosen };
	struct bpf_program *program;
	int err;

	output->object = bpf_open_user_code();
	if (!output->object)
		return -errno;
	set_constants(output->object);
	bpf_object__for_each_program(program, output->object)
		if (!chosen && !strncmp(bpf_program__name(program), "chosen_", strlen("chosen_")))
			bpf_program__set_autoload(program, false);
	err = bpf_object__load(output->object);
	if (!err)
		err = bpf_map_update_elem(bpf_object__find_map_fd_by_name(output->object, "budget"),
					  &first, &budget, BPF_ANY);
	if (err)
		bpf_output_close(output);
	return err;
}

/* Loads the BPF programs. Returns NULL, or why they cannot be used. */
static const char *load_or_say_why(struct recorder *rec)
{
	int err;

	if (rec->options.per_thread)
		return "buffers of threads have no room for what BPF programs tell";
	if (geteuid())
		return bpf_refusal(-EPERM);
	if (!record_in_first_pid_namespace())
		return RECORD_IN_CONTAINER;
	err = load(rec);
	return err ? bpf_refusal(err) : NULL;
}

static int start(struct recorder *rec)
{
	int err = 0;

	cmd_info("code of programs that is in no file is copied by BPF programs");
	if (rec->target != TARGET_SYSTEM)
		err = bpf_output_choose(&rec->user_code, rec->tids, rec->n_tids);
	if (!err)
		err = bpf_output_open(rec, &rec->user_code, RVT_USER_CODE_EVENT);
	if (!err)
		bpf_output_attach(&rec->user_code);
	return err;
}

void record_end_user_code(struct recorder *rec)
{
	struct user_code_budget budget;
	int map = rec->user_code.object ?
		bpf_object__find_map_fd_by_name(rec->user_code.object, "budget") : -1;

	if (map < 0 || bpf_map_lookup_elem(map, &first, &budget))
		return;
	cmd_info("%llu bytes of code of programs were copied", budget.used);
	if (budget.refused & USER_CODE_LIMIT)
		cmd_warning("not all code of programs that is in no file was copied, but %llu "
			    "bytes of it: --copy-code=SIZE\n  sets how much may be", budget.used);
	if (budget.refused & USER_CODE_FULL)
		cmd_warning("the buffers had no room for all code of programs that came at once, "
			    "like text that is moved to\n  huge pages: try -m 8M,");
	if (budget.refused & USER_CODE_LARGE && bpf_is_compiled())
		cmd_warning("of mappings with more than 4 MiB of code that is in no file the rest "
			    "was not copied: run the program\n  without moving its text to huge "
			    "pages");
	else if (budget.refused & USER_CODE_LARGE)
		cmd_warning("of mappings with more than 128 KiB of code that is in no file the "
			    "rest was not copied, for the kernel\n  compiles no BPF programs. "
			    "Before the next recording:\n  sysctl -w net.core.bpf_jit_enable=1");
}
#else
static const char *load_or_say_why(struct recorder *rec)
{
	(void)rec;
	return RECORD_WITHOUT_BPF;
}

static int start(struct recorder *rec)
{
	(void)rec;
	return 0;
}

void record_end_user_code(struct recorder *rec)
{
	(void)rec;
}
#endif

int record_open_user_code(struct recorder *rec)
{
	const char *why;

	if (rec->ctr || !rec->options.copy_code || rec->trace_attr.exclude_user)
		return 0;
	why = load_or_say_why(rec);
	if (!why)
		return start(rec);
	cmd_info("code of programs that is in no file is not copied: %s", why);
	return 0;
}
