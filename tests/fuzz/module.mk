# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Fuzz targets: libFuzzer's entry point, with clang's sanitizers. build.sh builds them as OSS-Fuzz
# wants them.

FUZZ_CC ?= clang
FUZZ_SANITIZE := address,undefined,float-divide-by-zero,local-bounds,nullability
# clang warns of more than gcc; that must not keep anybody from fuzzing.
CFLAGS_fuzz ?= -Wno-error -Wno-missing-field-initializers -O1 -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -fno-sanitize-recover=all
# MemorySanitizer would take what json-c writes for never written.
ifeq ($(JSON),y)
override CFLAGS_fuzz += $(if $(findstring address,$(FUZZ_SANITIZE)),-DHAVE_JSON)
endif
FUZZ_LINK ?= $(FUZZ_CC) -fsanitize=$(FUZZ_SANITIZE)
FUZZ_ENGINE ?= -fsanitize=fuzzer
$(eval $(call variant,fuzz,$(FUZZ_CC)))

FUZZ_TARGETS := ntrace ntrace-rc7 ntrace-sifive ntrace-ctte coresight etrace etrace-029 etrace-205 etrace-esp32 \
	recording jobs index shared params elf jitdump \
	kallsyms tandem ctr rsp fleet
FUZZ_PROGRAMS := $(FUZZ_TARGETS:%=$(B)/fuzz/%)
FUZZ_COMMON := $(B)/fuzz/tests/fuzz/files.o $(ARCHIVES:%=$(B)/fuzz/%)

# One source for several targets.
fuzz_source = $(if $(filter ntrace% etrace% coresight,$(1)),stream,$(if $(filter jobs,$(1)),recording,$(1)))
fuzz_flags_ntrace := -DFUZZ_PROTOCOL=RVT_PROTOCOL_NTRACE -DFUZZ_DIALECT=RVT_DIALECT_NTRACE_1_0
fuzz_flags_ntrace-rc7 := -DFUZZ_PROTOCOL=RVT_PROTOCOL_NTRACE -DFUZZ_DIALECT=RVT_DIALECT_NTRACE_RC7
fuzz_flags_ntrace-sifive := -DFUZZ_PROTOCOL=RVT_PROTOCOL_NTRACE -DFUZZ_DIALECT=RVT_DIALECT_NTRACE_SIFIVE
fuzz_flags_ntrace-ctte := -DFUZZ_PROTOCOL=RVT_PROTOCOL_NTRACE -DFUZZ_DIALECT=RVT_DIALECT_NTRACE_CTTE
fuzz_flags_coresight := $(fuzz_flags_ntrace)
fuzz_flags_etrace := -DFUZZ_PROTOCOL=RVT_PROTOCOL_ETRACE -DFUZZ_DIALECT=RVT_DIALECT_ETRACE_2_0
fuzz_flags_etrace-029 := -DFUZZ_PROTOCOL=RVT_PROTOCOL_ETRACE -DFUZZ_DIALECT=RVT_DIALECT_ETRACE_0_029
fuzz_flags_etrace-205 := -DFUZZ_PROTOCOL=RVT_PROTOCOL_ETRACE -DFUZZ_DIALECT=RVT_DIALECT_ETRACE_2_0_5
fuzz_flags_etrace-esp32 := -DFUZZ_PROTOCOL=RVT_PROTOCOL_ETRACE -DFUZZ_DIALECT=RVT_DIALECT_ETRACE_ESP32
fuzz_flags_recording := -DFUZZ_JOBS=0
fuzz_flags_jobs := -DFUZZ_JOBS=3
# Of the command, what reads and writes a fleet's sums.
fuzz_parts_fleet := $(patsubst %,tools/perf-plugin/%.o,fleet/sums fleet/units profile/counts \
	profile/counters profile/merge common/json common/recording common/text)

define fuzz_program
$(B)/fuzz/$(1).o: tests/fuzz/$(call fuzz_source,$(1)).c $(B)/fuzz/flags
	@mkdir -p $$(@D)
	$(FUZZ_CC) $$(CFLAGS_COMMON) $$(CFLAGS_fuzz) $(fuzz_flags_$(1)) -c -o $$@ $$<

$(B)/fuzz/$(1): $(B)/fuzz/$(1).o $(fuzz_parts_$(1):%=$(B)/fuzz/%) $(FUZZ_COMMON)
	$(FUZZ_LINK) -o $$@ $$^ $(FUZZ_ENGINE) $$(LIBS)
endef
$(foreach target,$(FUZZ_TARGETS),$(eval $(call fuzz_program,$(target))))

# The same without a fuzzer, for inputs that once broke them (tests/fuzz-found.t).
FOUND_TARGETS := $(notdir $(wildcard tests/fuzz/found/*))
define found_program
$(B)/asan/fuzz/$(1).o: tests/fuzz/$(call fuzz_source,$(1)).c $(B)/asan/flags
	@mkdir -p $$(@D)
	$$(call brief,CC,$$@)$(CC) $$(CFLAGS_COMMON) $$(CFLAGS_ERROR) $$(CFLAGS_asan) $$(CFLAGS) $(fuzz_flags_$(1)) -c -o $$@ $$<

$(B)/asan/fuzz/$(1): $(B)/asan/fuzz/$(1).o $(fuzz_parts_$(1):%=$(B)/asan/%) $(B)/asan/tests/fuzz/files.o $(B)/asan/tests/fuzz/replay.o \
		$(ARCHIVES:%=$(B)/asan/%)
	$$(call brief,LINK,$$@)$(CC) $$(LDFLAGS_asan) -o $$@ $$^ $$(LIBS) $$(LIBS_asan)
endef
$(foreach target,$(FOUND_TARGETS),$(eval $(call found_program,$(target))))
unit-programs: $(B)/asan/fuzz-seeds $(FOUND_TARGETS:%=$(B)/asan/fuzz/%)
-include $(shell find $(B)/fuzz -name '*.d' -type f 2>/dev/null)

# Inputs made from the fixtures of the unit tests.
$(B)/asan/fuzz-seeds: $(B)/asan/tests/fuzz/seeds.o $(UNIT_COMMON:%.c=$(B)/asan/%.o) \
		$(ARCHIVES:%=$(B)/asan/%)
	$(CC) $(LDFLAGS_asan) -o $@ $^ $(LIBS) $(LIBS_asan) -lcmocka

$(B)/fuzz/seeds/complete: tests/fuzz/make-seeds $(B)/asan/fuzz-seeds \
		$(wildcard tests/ntrace/*.nta tests/etrace/*.eta)
	tests/fuzz/make-seeds $(B)/asan/fuzz-seeds $(B)/fuzz
	touch $@

fuzz-programs: $(FUZZ_PROGRAMS) $(B)/fuzz/seeds/complete
.PHONY: fuzz-programs

## make fuzz TIME=60 [TARGET=...]  each fuzz target for so many seconds (Documentation/testing.rst)
TIME ?= 60
fuzz:
	@tools/setup-host clang libclang-rt-dev
	@$(MAKE) --no-print-directory fuzz-programs
	@tests/fuzz/run $(TIME) $(or $(TARGET),$(FUZZ_TARGETS))
.PHONY: fuzz

## make fuzz-memory TIME=60  the same with MemorySanitizer: targets that no other library reads anything for
MEMORY_TARGETS := ntrace ntrace-rc7 ntrace-sifive ntrace-ctte coresight etrace etrace-029 etrace-205 etrace-esp32 params tandem ctr rsp
fuzz-memory:
	@tools/setup-host clang libclang-rt-dev
	@$(MAKE) --no-print-directory fuzz-programs
	@$(MAKE) --no-print-directory B=$(B)/memory FUZZ_SANITIZE=memory,undefined \
		$(MEMORY_TARGETS:%=$(B)/memory/fuzz/%)
	@FUZZ_PROGRAMS=$(B)/memory/fuzz tests/fuzz/run $(TIME) $(or $(TARGET),$(MEMORY_TARGETS))
.PHONY: fuzz-memory
