// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Watches kernel code that is added, changed or removed during the recording, by BPF programs
 * (kernel-code.bpf.c) that write it into the recording. Without BPF, a recording only has the code
 * at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cmd.h"
#include "common/text.h"
#include "record/bpf-output.h"
#include "record/code.h"
#include "record/record.h"

#ifdef HAVE_LIBBPF
#include "bpf/load.h"
#include "bpf/symbols.h"

/*
 * Returns whether the program calls back from bpf_loop(), which works only if the kernel compiles
 * BPF, not if it interprets it.
 */
static bool needs_compiler(const struct bpf_program *program)
{
	static const char *const others[] = { "key_changed", "key_changes", "read_page",
					      "symbols" };
	const char *name = bpf_program__name(program);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

static int load(struct bpf_output *code, bool compiled)
{
	struct bpf_program *program;
	int err;

	code->object = bpf_open_kernel_code();
	if (!code->object)
		return -errno;
	bpf_object__for_each_program(program, code->object)
		bpf_program__set_autoload(program, compiled || !needs_compiler(program));
	err = bpf_object__load(code->object);
	if (err)
		bpf_output_close(code);
	return err;
}

static int load_what_can_be(const struct recorder *rec, struct bpf_output *code)
{
	int err = load(code, true);

	if (!err || bpf_is_compiled() || load(code, false))
		return err;
	if (!rec->options.quiet)
		cmd_warning("modules that come or go meanwhile are not told: the kernel compiles "
			    "no BPF programs.\n  What runs in those that are gone at the end will "
			    "not be decoded. Before the next recording:\n  sysctl -w "
			    "net.core.bpf_jit_enable=1");
	return 0;
}

static int watch(struct recorder *rec)
{
	int err = geteuid() ? -EPERM : load_what_can_be(rec, &rec->code);

	if (err) {
		cmd_info("kernel code is as it is at the end, no BPF program tells its changes: %s",
			 bpf_refusal(err));
		return 0;
	}
	cmd_info("changes of kernel code are told by BPF programs");
	err = bpf_output_open(rec, &rec->code, RVT_KERNEL_CODE_EVENT);
	if (!err)
		bpf_output_attach(&rec->code);
	return err;
}

bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE])
{
	const struct bpf_object *object = rec->code.object;
	struct bpf_program *program = object ?
		bpf_object__find_program_by_name(object, "read_page") : NULL;
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &addr, .ctx_size_in = sizeof(addr));
	const uint32_t zero = 0;

	return program && !bpf_prog_test_run_opts(bpf_program__fd(program), &options) &&
		!options.retval && !bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object,
											"page"),
							&zero, bytes);
}

/* Prints symbols as lines of /proc/kallsyms. */
static char *print_symbols(const char *bytes, size_t len)
{
	struct kernel_symbol head;
	size_t text_len;
	char *text;
	FILE *out = open_memstream(&text, &text_len);

	if (!out)
		return NULL;
	for (size_t pos = 0; len - pos >= sizeof(head); pos += head.name_len + head.module_len) {
		char digits[16], *end;

		memcpy(&head, bytes + pos, sizeof(head));
		pos += sizeof(head);
		if ((size_t)head.name_len + head.module_len > len - pos)
			break;
		end = put_hex(digits, head.addr);
		fwrite(digits, 1, end - digits, out);
		fprintf(out, " %c %s\t[%s]\n", head.type ? (int)head.type : 't', bytes + pos,
			bytes + pos + head.name_len);
	}
	return fclose(out) ? NULL : text;
}

char *record_watch_symbols(const struct recorder *rec)
{
	char *bytes = NULL, *text = NULL;
	size_t len;

	if (!rec->code.object)
		return NULL;
	if (!bpf_read_iterator(rec->code.object, "symbols", &bytes, &len))
		text = print_symbols(bytes, len);
	free(bytes);
	return text;
}
#else
char *record_watch_symbols(const struct recorder *rec)
{
	(void)rec;
	return NULL;
}

bool record_watch_read(const struct recorder *rec, uint64_t addr, uint8_t bytes[RVT_KERNEL_PAGE])
{
	(void)rec, (void)addr, (void)bytes;
	return false;
}

static int watch(struct recorder *rec)
{
	(void)rec;
	cmd_info("kernel code is as it is at the end, no BPF program tells its changes: "
		 RECORD_WITHOUT_BPF);
	return 0;
}
#endif

int record_watch_open(struct recorder *rec)
{
	if (rec->ctr || rec->options.no_code || rec->options.per_thread ||
	    rec->trace_attr.exclude_kernel)
		return 0;
	return watch(rec);
}
