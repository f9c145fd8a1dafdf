# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# The kernel modules for the kernels of the lab: build/driver/<stable|testing>/rvtrace.ko, riscv_ctr.ko.
# Objects of kernel builds land beside their sources, so each kernel builds a copy.

DRIVER_KERNELS := stable testing
DRIVER_SRC := $(wildcard drivers/hwtracing/rvtrace/*.[ch]) drivers/hwtracing/rvtrace/Makefile \
	$(wildcard drivers/perf/*.[ch]) drivers/perf/Makefile Kbuild $(wildcard include/uapi/linux/*.h)
# Checks that the sources must pass: make driver DRIVER_CHECKS="W=1 C=1"
DRIVER_CHECKS ?=

## make driver      rvtrace.ko and riscv_ctr.ko for each kernel of the lab
driver: $(DRIVER_KERNELS:%=$(B)/driver/%/rvtrace.ko)

# One run makes both modules. The kernels debug and kcsan are there after `lab debug-kernel` only; debug-kunit is for debug.
# testing-nolate is for testing, without late records.
DRIVER_DEBUG := debug debug-kunit kcsan testing-nolate
$(patsubst %,$(B)/driver/%/rvtrace.ko,$(DRIVER_KERNELS) $(DRIVER_DEBUG)): $(B)/driver/%/rvtrace.ko: $(DRIVER_SRC)
	@mkdir -p $(@D)
	$(call brief,COPY,$(@D))cp -p --parents -t $(@D) $(DRIVER_SRC)
	$(call brief,KBUILD,$(@D))$(LAB) kmake --kernel $(firstword $(subst -, ,$*)) $(abspath $(@D)) \
		$(if $(filter %-kunit,$*),CONFIG_RVTRACE_KUNIT_TEST=y) $(if $(filter %-nolate,$*),CONFIG_RVTRACE_LATE_RECORDS=n) \
		$(DRIVER_CHECKS) modules
	$(call brief,COPY,$@)cp $(@D)/drivers/perf/riscv_ctr.ko $(@D)/ && cp $(@D)/drivers/hwtracing/rvtrace/rvtrace.ko $@

## make selftests   the driver's selftests, for the guest (build/selftests)
selftests:
	$(MAKE) -C selftests OUTPUT=$(abspath $(B)/selftests) CC=$(abspath tools/lab/cross/riscv64-linux-gnu-gcc)

## make dt-check    the devicetree binding and its examples (needs dt-schema and dtc)
dt-check:
	@Documentation/devicetree/check

.PHONY: selftests dt-check
