// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * vmm PROGRAM ROUNDS [ADDRESS]: a virtual machine monitor for one hart that runs PROGRAM
 * (vmm-guest.S), a statically linked ELF file, by KVM. PROGRAM gets both numbers. Prints a line for
 * each access to an address that is no memory, and what PROGRAM says with its calls of the SBI
 * extension 0x08000000: function 0 is the end.
 *
 * vmm linux IMAGE DTB INITRD MEMORY: the same with a Linux kernel, whose early console
 * (earlycon=sbi) goes to standard output. Its memory, from MEMORY_BASE on, is the file MEMORY: it
 * has the kernel's code as that has changed itself. IMAGE, DTB and INITRD are at the addresses
 * below.
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
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_BASE 0x80000000ull
#define IMAGE_AT 0x80200000ull
#define DTB_AT 0x89000000ull
#define INITRD_AT 0x89100000ull	/* as linux-guest.dts says */

#define SBI_DEBUG_CONSOLE 0x4442434e	/* DBCN */
enum { DEBUG_CONSOLE_WRITE, DEBUG_CONSOLE_READ, DEBUG_CONSOLE_WRITE_BYTE };

static uint8_t *memory;
static uint64_t memory_size = 2ull << 20;

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
		if (offset > memory_size || part.p_memsz > memory_size - offset ||
		    pread(fd, memory + offset, part.p_filesz, (off_t)part.p_offset) !=
		    (ssize_t)part.p_filesz)
			errx(1, "%s: a segment does not fit into memory", path);
	}
	close(fd);
	return head.e_entry;
}

static void load_file(const char *path, uint64_t addr)
{
	int fd = open(path, O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		err(1, "%s", path);
	if ((uint64_t)status.st_size > MEMORY_BASE + memory_size - addr ||
	    read(fd, memory + (addr - MEMORY_BASE), (size_t)status.st_size) != status.st_size)
		errx(1, "%s does not fit into memory", path);
	close(fd);
}

static void set_reg(int vcpu, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_RISCV | KVM_REG_SIZE_U64 | id, .addr = (uintptr_t)&value,
	};

	call(vcpu, KVM_SET_ONE_REG, &reg, "KVM_SET_ONE_REG");
}

#define SET_REG(vcpu, name, value) \
	set_reg(vcpu, KVM_REG_RISCV_CORE | \
		offsetof(struct kvm_riscv_core, name) / sizeof(unsigned long), value)

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

/* What Linux writes to its early console */
static void debug_console(struct kvm_run *run)
{
	const unsigned long *args = run->riscv_sbi.args;
	uint64_t offset = args[1] - MEMORY_BASE;

	run->riscv_sbi.ret[0] = run->riscv_sbi.ret[1] = 0;
	if (run->riscv_sbi.function_id == DEBUG_CONSOLE_WRITE_BYTE) {
		putchar((int)args[0]);
	} else if (run->riscv_sbi.function_id == DEBUG_CONSOLE_WRITE && offset < memory_size &&
		   args[0] <= memory_size - offset) {
		fwrite(memory + offset, 1, args[0], stdout);
		run->riscv_sbi.ret[1] = args[0];
	}
	fflush(stdout);
}

/* False: that was the end. */
static bool serve(struct kvm_run *run)
{
	switch (run->exit_reason) {
	case KVM_EXIT_MMIO:
		show_access(run);
		return true;
	case KVM_EXIT_RISCV_SBI:
		if (run->riscv_sbi.extension_id == SBI_DEBUG_CONSOLE) {
			debug_console(run);
			return true;
		}
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

static void make_memory(const char *file)
{
	int fd = file ? open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (file && (fd < 0 || ftruncate(fd, (off_t)memory_size)))
		err(1, "%s", file);
	memory = mmap(NULL, memory_size, PROT_READ | PROT_WRITE,
		      file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "memory");
}

static int make_vcpu(int kvm, int vm, struct kvm_run **run)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = MEMORY_BASE, .memory_size = memory_size,
		.userspace_addr = (uintptr_t)memory,
	};
	int vcpu, size;

	call(vm, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	vcpu = call(vm, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	size = call(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	*run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (*run == MAP_FAILED)
		err(1, "vcpu");
	return vcpu;
}

int main(int argc, char **argv)
{
	bool hold = argc == 2 && !strcmp(argv[1], "hold");
	bool linux_guest = argc == 6 && !strcmp(argv[1], "linux");
	int kvm, vm, vcpu;
	struct kvm_run *run;

	if (argc < 3 && !hold)
		errx(2, "usage: vmm PROGRAM ROUNDS [ADDRESS]");
	if (linux_guest)
		memory_size = 192ull << 20;
	make_memory(linux_guest ? argv[5] : NULL);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		err(1, "/dev/kvm");
	vm = call(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	while (hold)
		pause();
	vcpu = make_vcpu(kvm, vm, &run);
	if (linux_guest) {
		load_file(argv[2], IMAGE_AT);
		load_file(argv[3], DTB_AT);
		load_file(argv[4], INITRD_AT);
		set_reg(vcpu, KVM_REG_RISCV_SBI_EXT | KVM_REG_RISCV_SBI_SINGLE |
			KVM_RISCV_SBI_EXT_DBCN, 1);
		SET_REG(vcpu, regs.pc, IMAGE_AT);
		SET_REG(vcpu, regs.a1, DTB_AT);
	} else {
		SET_REG(vcpu, regs.pc, load(argv[1]));
		SET_REG(vcpu, regs.a0, strtoull(argv[2], NULL, 0));
		SET_REG(vcpu, regs.a1, argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
	}
	do
		if (ioctl(vcpu, KVM_RUN, 0) < 0)
			err(1, "KVM_RUN");
	while (serve(run));
	return 0;
}
