// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * vmm PROGRAM ROUNDS [ADDRESS]: a virtual machine monitor for one hart that runs PROGRAM
 * (vmm-guest.S), a statically linked ELF file, by KVM. PROGRAM gets both numbers. Prints a line for
 * each access to an address that is no memory, and what PROGRAM says with its calls of the SBI
 * extension 0x08000000: function 0 is the end.
 *
 * vmm hold: makes a virtual machine and waits to be killed. The kernel changes its own code when
 * the first one comes and the last one goes.
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY_BASE 0x80000000ull
#define MEMORY_SIZE (2ull << 20)

static uint8_t *memory;

static int call(int fd, unsigned long request, void *argument, const char *what)
{
	int ret = ioctl(fd, request, argument);

	if (ret < 0)
		err(1, "%s", what);
	return ret;
}

/* Returns where the program begins. */
static uint64_t load(const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head))
		err(1, "%s", path);
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		uint64_t offset = head.e_phoff + i * sizeof(part);

		if (pread(fd, &part, sizeof(part), (off_t)offset) != sizeof(part))
			err(1, "%s", path);
		if (part.p_type != PT_LOAD)
			continue;
		offset = part.p_vaddr - MEMORY_BASE;
		if (offset > MEMORY_SIZE || part.p_memsz > MEMORY_SIZE - offset ||
		    pread(fd, memory + offset, part.p_filesz, (off_t)part.p_offset) !=
		    (ssize_t)part.p_filesz)
			errx(1, "%s: a segment does not fit into memory", path);
	}
	close(fd);
	return head.e_entry;
}

static void set_reg(int vcpu, size_t offset, uint64_t value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_RISCV | KVM_REG_SIZE_U64 | KVM_REG_RISCV_CORE |
		      offset / sizeof(unsigned long),
		.addr = (uintptr_t)&value,
	};

	call(vcpu, KVM_SET_ONE_REG, &reg, "KVM_SET_ONE_REG");
}

#define SET_REG(vcpu, name, value) \
	set_reg(vcpu, offsetof(struct kvm_riscv_core, name), value)

static void show_access(struct kvm_run *run)
{
	uint64_t value = 0;

	if (run->mmio.is_write)
		memcpy(&value, run->mmio.data, sizeof(value));
	else
		memset(run->mmio.data, 0, sizeof(run->mmio.data));
	printf("%s %#llx %u %#" PRIx64 "\n", run->mmio.is_write ? "store" : "load",
	       run->mmio.phys_addr, run->mmio.len, value);
}

/* False: that was the end. */
static bool serve(struct kvm_run *run)
{
	switch (run->exit_reason) {
	case KVM_EXIT_MMIO:
		show_access(run);
		return true;
	case KVM_EXIT_RISCV_SBI:
		printf("says %lu: %#lx %#lx %#lx\n", run->riscv_sbi.function_id,
		       run->riscv_sbi.args[0], run->riscv_sbi.args[1], run->riscv_sbi.args[2]);
		run->riscv_sbi.ret[0] = run->riscv_sbi.ret[1] = 0;
		return run->riscv_sbi.function_id != 0;
	case KVM_EXIT_INTR:
		return true;
	default:
		errx(1, "the guest left for reason %u", run->exit_reason);
	}
}

int main(int argc, char **argv)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = MEMORY_BASE, .memory_size = MEMORY_SIZE,
	};
	bool hold = argc == 2 && !strcmp(argv[1], "hold");
	int kvm, vm, vcpu, size;
	struct kvm_run *run;
	uint64_t entry;

	if (argc < 3 && !hold)
		errx(2, "usage: vmm PROGRAM ROUNDS [ADDRESS]");
	memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (memory == MAP_FAILED || kvm < 0)
		err(1, "/dev/kvm");
	vm = call(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	while (hold)
		pause();
	entry = load(argv[1]);
	region.userspace_addr = (uintptr_t)memory;
	call(vm, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	vcpu = call(vm, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	size = call(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		err(1, "vcpu");
	SET_REG(vcpu, regs.pc, entry);
	SET_REG(vcpu, regs.a0, strtoull(argv[2], NULL, 0));
	SET_REG(vcpu, regs.a1, argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
	do
		if (ioctl(vcpu, KVM_RUN, 0) < 0)
			err(1, "KVM_RUN");
	while (serve(run));
	return 0;
}
