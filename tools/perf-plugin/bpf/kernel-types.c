// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Makes a BTF of the few kernel types that our programs use. The kernel's own BTF has 100000 types,
 * of which our programs use some twenty. libbpf searches all of it for each type, for each object,
 * which was two thirds of the costs of a short recording. So these types, and the types of their
 * members, are copied into a BTF of their own, once.
 */
#ifdef HAVE_LIBBPF
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/btf.h>
#include "bpf/kernel-types.h"

/* Types with KERNEL_STRUCT in *.bpf.c; tests/bpf-types.t compares. */
static const char *const wanted[] = {
	"bpf_binary_header", "bpf_iter__ksym", "bpf_iter__task", "bpf_iter__task_vma",
	"bpf_iter_meta", "bpf_ksym", "file", "inode", "jump_entry", "kallsym_iter", "mm_struct",
	"mod_kallsyms", "module", "module_memory", "path", "pt_regs", "signal_struct",
	"super_block", "task_struct", "thread_info", "vm_area_struct", "vm_special_mapping",
};

#define N_WANTED (sizeof(wanted) / sizeof(*wanted))

struct copying {
	const struct btf *from;
	struct btf *to;
	int *ids;		/* numbers in .to, by those in .from; 0: not copied yet */
	int pointer;		/* number in .to that all pointers have */
};

static int copy_type(struct copying *c, uint32_t id);

/* Copies a pointer as one to void: CO-RE relocates within types, but not through pointers. */
static int copy_pointer(struct copying *c)
{
	if (!c->pointer)
		c->pointer = btf__add_ptr(c->to, 0);
	return c->pointer;
}

static int copy_array(struct copying *c, const struct btf_type *type)
{
	const struct btf_array *array = btf_array(type);
	int index = copy_type(c, array->index_type), element = copy_type(c, array->type);

	if (index < 0 || element < 0)
		return index < 0 ? index : element;
	return btf__add_array(c->to, index, element, array->nelems);
}

/* Copies members first: BTF wants the members of a structure right behind it. */
static int copy_struct(struct copying *c, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(c->from, type->name_off);
	const struct btf_member *members = btf_members(type);
	int n = btf_vlen(type), id, err = 0;

	for (int i = 0; i < n; i++)
		if (copy_type(c, members[i].type) < 0)
			return -EINVAL;
	id = btf_is_struct(type) ? btf__add_struct(c->to, name, type->size) :
				   btf__add_union(c->to, name, type->size);
	for (int i = 0; i < n && id > 0 && !err; i++)
		err = btf__add_field(c->to, btf__name_by_offset(c->from, members[i].name_off),
				     copy_type(c, members[i].type),
				     btf_member_bit_offset(type, i),
				     btf_member_bitfield_size(type, i));
	return err ? err : id;
}

static int add_type(struct copying *c, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(c->from, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return btf__add_int(c->to, name, type->size, btf_int_encoding(type));
	case BTF_KIND_FLOAT:
		return btf__add_float(c->to, name, type->size);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		/* of the same size; nobody needs its values */
		return btf__add_enum(c->to, name, type->size);
	case BTF_KIND_ARRAY:
		return copy_array(c, type);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_struct(c, type);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		/* copies the type that it stands for */
		return copy_type(c, type->type);
	case BTF_KIND_PTR:
		return copy_pointer(c);
	default:
		return -EINVAL;
	}
}

/* Copies a type. Returns its number in .to; 0: void; -EINVAL or another error. */
static int copy_type(struct copying *c, uint32_t id)
{
	const struct btf_type *type = id ? btf__type_by_id(c->from, id) : NULL;

	if (!id)
		return 0;
	if (!type)
		return -EINVAL;
	if (!c->ids[id])
		c->ids[id] = add_type(c, type);
	return c->ids[id];
}

static int compare_names(const void *name, const void *element)
{
	return strcmp(name, *(const char *const *)element);
}

/*
 * Returns whether our programs use the type. In programs, other versions of a structure are
 * NAME___VERSION; not in the kernel.
 */
static bool is_wanted(const char *name)
{
	return bsearch(name, wanted, N_WANTED, sizeof(*wanted), compare_names);
}

static int copy_wanted(struct copying *c)
{
	const uint32_t n = btf__type_cnt(c->from);
	int err = 0;

	for (uint32_t id = 1; id < n && err >= 0; id++) {
		const struct btf_type *type = btf__type_by_id(c->from, id);

		if (btf_is_struct(type) &&
		    is_wanted(btf__name_by_offset(c->from, type->name_off)))
			err = copy_type(c, id);
	}
	return err < 0 ? err : 0;
}

/* Puts @btf into a file in memory. -1: it cannot be made. */
static int put_into_file(const struct btf *btf)
{
	uint32_t len;
	const void *bytes = btf__raw_data(btf, &len);
	int fd = bytes ? memfd_create("rvtrace-kernel-types", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, bytes, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int make_file(void)
{
	struct copying c = { .from = btf__load_vmlinux_btf() };
	int fd = -1;

	if (!c.from)
		return -1;
	c.to = btf__new_empty();
	c.ids = calloc(btf__type_cnt(c.from), sizeof(*c.ids));
	if (c.to && c.ids && !copy_wanted(&c))
		fd = put_into_file(c.to);
	free(c.ids);
	btf__free(c.to);
	btf__free((struct btf *)c.from);
	return fd;
}

const char *bpf_kernel_types(void)
{
	static char path[32];
	static bool tried;
	int fd;

	if (tried)
		return *path ? path : NULL;
	tried = true;
	fd = make_file();
	if (fd >= 0)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return *path ? path : NULL;
}
#endif
