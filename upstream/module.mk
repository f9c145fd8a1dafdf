# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# perf with support for RISC-V trace, out of the distribution's kernel sources and upstream/perf.

# Options of perf's own build, such as NO_JEVENTS=0. An x86 machine analyses, a RISC-V one records.
PERF_OPTIONS ?=
PERF_FOR := $(if $(filter riscv riscv64,$(ARCH)),riscv64,host)
PERF_PREFIX ?= $(B)/perf/install-$(PERF_FOR)$(addprefix -,$(PERF_VERSION))
export PERF_VERSION
PERF_PACKAGES := flex bison patch xz-utils libtraceevent-dev libslang2-dev liblzma-dev zlib1g-dev libpython3-dev \
	python3-setuptools

## make perf        perf that records and decodes RISC-V trace, under PERF_PREFIX (build/perf; ARCH=riscv: for boards and the lab)
#                   PERF_VERSION=6.12: that of Linux 6.12, which records only.
perf: perf-packages
ifeq ($(PERF_FOR),riscv64)
	@$(LAB) setup --only toolchain,builder,guest >/dev/null
endif
	@$(MAKE) --no-print-directory install-library LIB_FOR=$(PERF_FOR) prefix=$(abspath $(PERF_PREFIX)) DESTDIR=
	@upstream/perf/build $(PERF_FOR) $(B)/perf $(PERF_PREFIX) $(PERF_OPTIONS)

# What its build needs, for tests as well.
perf-packages:
	@tools/setup-host $(PERF_PACKAGES)
.PHONY: perf perf-packages
