# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/asan/unit/%,$(UNIT_SRC))
HOST_TESTS := $(sort $(wildcard tests/*.t))
GUEST_TESTS := $(sort $(wildcard tests/guest/*.t))
LONG_TESTS := $(sort $(wildcard tests/long/*.t tests/guest/long/*.t))

## make demo        from nothing to a decoded recording of a real program (installs, fetches, boots)
demo: deps
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory demo-parts
	@tools/demo

## make check       all tests: unit tests, then real kernels with real perf in the lab
check: deps
	@echo "rvtrace: check: 1. build  2. unit tests  3. lab and guest tests"
	@$(MAKE) --no-print-directory WERROR=1 all unit-programs
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory WERROR=1 demo-parts
	@tests/run $(UNIT_TESTS) $(HOST_TESTS) $(GUEST_TESTS)

## make unit        the tests that need no guest only
unit: deps
	@$(MAKE) --no-print-directory WERROR=1 all unit-programs
	@tests/run $(UNIT_TESTS) $(HOST_TESTS)

## make unit-variants  the unit tests built by clang with its sanitizers, and those with threads by ThreadSanitizer
THREAD_TESTS := $(filter %/session_test %/session_slices_test %/session_records_test %/transfers_test \
	%/decode_command_test,$(patsubst tests/unit/%.c,$(B)/tsan/unit/%,$(UNIT_SRC)))
unit-variants:
	@tools/setup-host clang libclang-rt-dev
	@$(MAKE) --no-print-directory all unit-programs-clang $(THREAD_TESTS)
	@RVT_CASES_PERCENT=20 tests/run $(patsubst tests/unit/%.c,$(B)/clang/unit/%,$(UNIT_SRC))
	@TSAN_OPTIONS=halt_on_error=1 tests/run $(THREAD_TESTS)
.PHONY: unit-variants

## make guest       the guest tests only
guest: deps
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory WERROR=1 demo-parts
	@tests/run $(GUEST_TESTS)

## make guest-commands  of the guest tests those in which it matters who owns a recording
# The others have machines, drivers and decoders at work on what the test itself makes of them.
MACHINE_TESTS := $(patsubst %,tests/guest/%.t,accesses compilers damage driver etrace flight k3 k3-driver \
	model sifive tandem tandem-insns truth v0)
guest-commands: deps
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory WERROR=1 demo-parts
	@tests/run $(filter-out $(MACHINE_TESTS),$(GUEST_TESTS))
.PHONY: guest-commands

## make check-long  the same and what takes too long for every day, the debug kernel included; what was interrupted goes on (Documentation/testing.rst)
# What passed is not run again while nothing has changed since. With changes that are not committed
# all is run.
PASSED = $(if $(shell git status --porcelain 2>&1),,$(B)/passed/$(shell git rev-parse HEAD))
check-long:
	@RVT_PASSED=$(PASSED:%=%/check) $(MAKE) --no-print-directory check
	@RVT_PASSED=$(PASSED:%=%/long) RVT_LONG=1 RVT_PROPERTY_CASES=2000 RVT_JOBS_SECONDS=300 \
		tests/run $(UNIT_TESTS) tests/guest/etrace.t $(LONG_TESTS)
	@RVT_PASSED=$(PASSED:%=%/long) $(MAKE) --no-print-directory unit-variants
	@$(MAKE) --no-print-directory fuzz

## make deps        installs with apt what building and testing needs and this machine lacks (demo and check do, too)
deps:
	@tools/setup-host

## make lab         fetches the RISC-V test system (cached)
lab:
	@$(LAB) setup

## make debug-kernel builds the kernel that checks itself (KASAN, lockdep ...), once: 14 minutes of a processor
debug-kernel: lab
	@$(LAB) debug-kernel

# What a guest run needs.
demo-parts: all model driver $(B)/riscv64/perf-rvtrace
.PHONY: demo-parts debug-kernel
