# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Two targets matter to most people: `make demo` and `make check` (see README.md).
# Products go under build/: host/ (optimised), asan/ (sanitised, for tests), riscv64/ (guest).
#
# V=1 shows whole command lines; WERROR=1 makes warnings errors, as the tests do.

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules
B ?= build
CFLAGS_COMMON := -std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra \
	-Iinclude -Iuserspace -Iuserspace/lib -Itools/perf-plugin -MMD -MP
# Apart from the other flags: what is compiled is not compiled again because of it.
CFLAGS_ERROR := $(if $(filter-out 0,$(WERROR)),-Werror)
LIBS := -lelf -ldw -lzstd -lpthread
LAB := tools/lab/lab

# A cross compiler, as CC=PREFIX-gcc or CROSS_COMPILE=PREFIX-: what libraries its target has says
# PREFIX-pkg-config. Without that none of the optional ones is used: this machine's are not there.
ifneq ($(CROSS_COMPILE),)
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
AR := $(CROSS_COMPILE)ar
endif
ifeq ($(origin PKG_CONFIG),undefined)
CC_PREFIX := $(patsubst %gcc,%,$(filter %-gcc,$(firstword $(CC))))
PKG_CONFIG := $(if $(CC_PREFIX),$(or $(shell command -v $(CC_PREFIX)pkg-config),false),pkg-config)
endif
has = $(shell $(PKG_CONFIG) --exists '$(1)' 2>/dev/null && echo y)

# The golden model of `tandem verify`; only for the machine that analyses.
UNICORN := $(call has,unicorn)
# The disassembler of `script`: RISC-V came with capstone 5. The guest always has it.
CAPSTONE := $(call has,capstone >= 5)
# Without that: LLVM's library, by its SONAME, which is loaded when it is needed. Debian 12 has it.
LLVM_CONFIG := $(if $(CAPSTONE)$(CC_PREFIX),,$(shell for c in llvm-config llvm-config-21 \
	llvm-config-20 llvm-config-19 llvm-config-18 llvm-config-17 llvm-config-16 llvm-config-15 \
	llvm-config-14; do command -v $$c && break; done))
ifneq ($(LLVM_CONFIG),)
LLVM := $(shell objdump -p "$$($(LLVM_CONFIG) --link-shared --libfiles 2>/dev/null)" 2>/dev/null | \
	sed -n 's/ *SONAME *//p')
LLVM_CFLAGS := -isystem $(shell $(LLVM_CONFIG) --includedir)
endif

# `--json`, `profile --format chrome`.
JSON := $(call has,json-c)
# `profile --format perfetto` and pprof.
PROTO_FORMATS := perfetto pprof
PROTOBUF := $(and $(call has,libprotobuf-c),$(shell command -v protoc-c))
# `export --sqlite`.
SQLITE := $(call has,sqlite3)
# What BPF does for `record`: for the machine that records.
LIBBPF := $(call has,libbpf)

# The library of decoders. What makes traces, and what checks decoders, is apart from it and not
# installed: encoders, assemblers, tandem verification, the ground truth.
LIB_SRC := $(sort $(wildcard userspace/lib/*.c userspace/lib/*/*.c userspace/lib/*/*/*.c))
MODEL_LIB_SRC := $(sort $(wildcard userspace/model/*/*.c))
ARCHIVES := librvtrace-model.a librvtrace.a
# What decodes. Where GCC can, it links these objects to one, for it inlines from file to file then:
# up to 3 % faster. Its intermediate code stays in build/: who links the archive needs no GCC.
ENGINE_SRC := $(filter $(addprefix userspace/lib/,stream.c flow/% etrace/% ntrace/% insn/% image/%),$(LIB_SRC))
# *.bpf.c run in the kernel.
CMD_SRC := $(sort $(filter-out %.bpf.c,$(wildcard tools/perf-plugin/*.c tools/perf-plugin/*/*.c)))
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
# Helpers of unit tests: linked to every one of them.
UNIT_COMMON := $(sort $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c)))
# One program per file: tests/tools/rvt-FOO.c -> build/host/rvt-FOO
TOOL_SRC := $(sort $(wildcard tests/tools/rvt-*.c))

# Decoding is what it is for: 0 to 12 % faster than with -O2 alone, by program. Stores that GCC joins
# into a vector are read one by one right after, which waits: gzip takes 3 to 8 % less without.
CFLAGS_host := -O3 -fno-tree-slp-vectorize -fno-semantic-interposition -fPIC
# Where GCC can: no string instructions for structs of more than 96 bytes. To clear 136 bytes by them
# takes 12 instead of 2 ns (EPYC of family 26). Counting is 3 to 6 % faster.
STRINGS_GCC := -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign \
	-mmemcpy-strategy=unrolled_loop:512:noalign,libcall:-1:noalign
STRINGS_host := $(shell $(CC) -c -x c -o /dev/null $(STRINGS_GCC) /dev/null 2>/dev/null && \
	echo $(STRINGS_GCC))
CFLAGS_host += $(STRINGS_host)
ENGINE_LTO_host := $(shell echo 'int rvt;' | $(CC) -flto -r -nostdlib -flinker-output=nolto-rel -x c \
	-o /dev/null - 2>/dev/null && echo -flto -flto-partition=none)
CFLAGS_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS_riscv64 := -O2 -fPIC
ifeq ($(UNICORN),y)
CFLAGS_host += -DHAVE_UNICORN
CFLAGS_asan += -DHAVE_UNICORN
LIBS_host := -lunicorn
LIBS_asan := -lunicorn
endif
ifeq ($(CAPSTONE),y)
CFLAGS_host += -DHAVE_CAPSTONE $(shell $(PKG_CONFIG) --cflags capstone)
CFLAGS_asan += -DHAVE_CAPSTONE $(shell $(PKG_CONFIG) --cflags capstone)
LIBS_host += $(shell $(PKG_CONFIG) --libs capstone)
LIBS_asan += $(shell $(PKG_CONFIG) --libs capstone)
endif
ifneq ($(LLVM),)
CFLAGS_host += -DHAVE_LLVM='"$(LLVM)"' $(LLVM_CFLAGS)
CFLAGS_asan += -DHAVE_LLVM='"$(LLVM)"' $(LLVM_CFLAGS)
endif
ifneq ($(PROTOBUF),)
CFLAGS_host += -DHAVE_PROTOBUF -I$(B)/proto
CFLAGS_asan += -DHAVE_PROTOBUF -I$(B)/proto
LIBS_host += -lprotobuf-c
LIBS_asan += -lprotobuf-c
endif
ifeq ($(SQLITE),y)
CFLAGS_host += -DHAVE_SQLITE
CFLAGS_asan += -DHAVE_SQLITE
LIBS_host += -lsqlite3
LIBS_asan += -lsqlite3
endif
ifeq ($(JSON),y)
CFLAGS_host += -DHAVE_JSON
CFLAGS_asan += -DHAVE_JSON
LIBS += -ljson-c
endif
CFLAGS_riscv64 += -DHAVE_CAPSTONE -DHAVE_JSON
LIBS_riscv64 := -lcapstone -ljson-c
# Its programs need clang, too. The guest has libbpf.
ifeq ($(shell clang -print-targets 2>/dev/null | grep -qw bpf && \
	{ [ -n '$(LIBBPF)' ] || [ -d "$$($(LAB) path guest 2>/dev/null)" ]; } && echo y),y)
BPF_OBJECTS := $(patsubst tools/perf-plugin/bpf/%.c,$(B)/%.o,$(wildcard tools/perf-plugin/bpf/*.bpf.c))
BPF_INCLUDE := $(if $(LIBBPF),$(shell $(PKG_CONFIG) --variable=includedir libbpf),$(shell $(LAB) path guest)/usr/include)
ifeq ($(LIBBPF),y)
CFLAGS_host += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
CFLAGS_asan += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
LIBS_host += -lbpf
LIBS_asan += -lbpf
endif
CFLAGS_riscv64 += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
LIBS_riscv64 += -l:libbpf.a -lelf -lz
endif
LDFLAGS_asan := -fsanitize=address,undefined
# The same tests by another compiler with its sanitizers, and with one that watches threads.
SANITIZE_clang := address,undefined,float-divide-by-zero,local-bounds,nullability
CFLAGS_clang := $(patsubst -fsanitize=%,-fsanitize=$(SANITIZE_clang),$(CFLAGS_asan))
LDFLAGS_clang := -fsanitize=$(SANITIZE_clang)
LIBS_clang := $(LIBS_asan)
CFLAGS_tsan := $(patsubst -fsanitize=%,-fsanitize=thread,$(CFLAGS_asan))
LDFLAGS_tsan := -fsanitize=thread
LIBS_tsan := $(LIBS_asan)

.PHONY: all help board demo check check-long unit guest driver bench clean distclean deps lab
.DEFAULT_GOAL := all

# $(call brief,VERB,FILE): what a command line says of itself, before it and in place of it.
ifeq ($(filter-out 0,$(V))$(findstring s,$(filter-out -%,$(firstword $(MAKEFLAGS)))),)
brief = @printf '  %-7s %s\n' '$(1)' '$(2)';
endif

## make [all]       the command and the library for this machine (V=1: whole command lines; CC, CFLAGS, LDFLAGS, B)
all: $(B)/host/librvtrace.a $(B)/host/librvtrace.so $(B)/host/perf-rvtrace tools

$(B)/%.bpf.o: tools/perf-plugin/bpf/%.bpf.c $(wildcard tools/perf-plugin/bpf/*.h) \
	include/rvtrace/kernel-code.h include/rvtrace/switches.h include/rvtrace/user-code.h
	@mkdir -p $(@D)
	$(call brief,BPF,$@)clang -target bpf -O2 -g -Wall -Wextra $(CFLAGS_ERROR) -Iinclude -Itools/perf-plugin -I$(BPF_INCLUDE) -c -o $@ $<

$(B)/proto/%.pb-c.c: tools/perf-plugin/profile/%.proto
	@mkdir -p $(@D)
	$(call brief,PROTO,$@)protoc-c --proto_path=$(<D) --c_out=$(@D) $<

$(patsubst %,$(B)/%/tools/perf-plugin/bpf/load.o,host asan clang tsan riscv64): $(BPF_OBJECTS)

# The page of `report --html` is part of the command.
HTML_DIR := tools/perf-plugin/html
$(patsubst %,$(B)/%/$(HTML_DIR)/html.o,host asan clang tsan riscv64): \
	private CFLAGS_COMMON += -DHTML_DIR='"$(HTML_DIR)"'
$(patsubst %,$(B)/%/$(HTML_DIR)/html.o,host asan clang tsan riscv64): \
	$(wildcard $(HTML_DIR)/*.js $(HTML_DIR)/*.css $(HTML_DIR)/*.html)

EXPORT_DIR := tools/perf-plugin/export
$(patsubst %,$(B)/%/$(EXPORT_DIR)/sqlite.o,host asan clang tsan riscv64): \
	private CFLAGS_COMMON += -DEXPORT_DIR='"$(EXPORT_DIR)"'
$(patsubst %,$(B)/%/$(EXPORT_DIR)/sqlite.o,host asan clang tsan riscv64): $(EXPORT_DIR)/schema.sql

help:
	@sed -n 's/^## //p' $(filter-out %.d,$(MAKEFILE_LIST))

# $(1): variant; $(2): compiler; $(3): headers of other packages without which nothing is built
define variant
# Rewritten when the flags change, say because an optional library has been installed. Then is the
# time to look whether the compiler and what it must find are there.
$(B)/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(ENGINE_LTO_$(1)) $$(CFLAGS)' | cmp -s - $$@ || \
		{ tools/setup-host --probe '$(2) $$(CFLAGS)' $(3) && \
		echo '$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(ENGINE_LTO_$(1)) $$(CFLAGS)' >$$@; }

$(B)/$(1)/%.o: %.c $(B)/$(1)/flags
	@mkdir -p $$(@D)
	$$(call brief,CC,$$@)$(2) $$(CFLAGS_COMMON) $$(CFLAGS_ERROR) $$(CFLAGS_$(1)) $$(FAT) $$(CFLAGS) -c -o $$@ $$<

LIB_$(1) := $$(patsubst %.c,$(B)/$(1)/%.o,$$(if $$(ENGINE_LTO_$(1)),$$(filter-out $$(ENGINE_SRC),$$(LIB_SRC)) engine.c,$$(LIB_SRC)))
ifneq ($$(ENGINE_LTO_$(1)),)
$$(ENGINE_SRC:%.c=$(B)/$(1)/%.o): private FAT := $$(ENGINE_LTO_$(1)) -ffat-lto-objects

# Its warnings are of what it inlined, without knowing what was checked before.
$(B)/$(1)/engine.o: $$(ENGINE_SRC:%.c=$(B)/$(1)/%.o)
	$$(call brief,LTO,$$@)$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(CFLAGS) -w $$(ENGINE_LTO_$(1)) -r -nostdlib \
		-flinker-output=nolto-rel -o $$@ $$^
endif

$(B)/$(1)/librvtrace.a: $$(LIB_$(1))
	$$(call brief,AR,$$@)rm -f $$@ && $(AR) rcs $$@ $$^

$(B)/$(1)/librvtrace.so: $$(LIB_$(1)) userspace/lib/librvtrace.map
	$$(call brief,LINK,$$@)$(2) $$(LDFLAGS_$(1)) $$(LDFLAGS) -shared -Wl,-soname,librvtrace.so.0 \
		-Wl,--version-script=userspace/lib/librvtrace.map -o $$@ $$(filter %.o,$$^) $$(LIBS)

$(B)/$(1)/librvtrace-model.a: $$(MODEL_LIB_SRC:%.c=$(B)/$(1)/%.o)
	$$(call brief,AR,$$@)rm -f $$@ && $(AR) rcs $$@ $$^

PROTO_$(1) := $$(if $$(findstring HAVE_PROTOBUF,$$(CFLAGS_$(1))),$$(PROTO_FORMATS:%=$(B)/$(1)/%.pb-c.o))
$(B)/$(1)/%.pb-c.o: $(B)/proto/%.pb-c.c $(B)/$(1)/flags
	$$(call brief,CC,$$@)$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(CFLAGS) -c -o $$@ $$<
$$(PROTO_FORMATS:%=$(B)/$(1)/tools/perf-plugin/profile/%.o): $$(if $$(PROTO_$(1)),$$(PROTO_FORMATS:%=$(B)/proto/%.pb-c.c))

$(B)/$(1)/perf-rvtrace: $$(CMD_SRC:%.c=$(B)/$(1)/%.o) $$(PROTO_$(1)) $$(ARCHIVES:%=$(B)/$(1)/%)
	$$(call brief,LINK,$$@)$(2) $$(LDFLAGS_$(1)) $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(LIBS_$(1))
endef
NEEDED := gelf.h elfutils/libdw.h zstd.h cmocka.h
$(eval $(call variant,host,$(CC),$(NEEDED)))
$(eval $(call variant,asan,$(CC),$(NEEDED)))
$(eval $(call variant,clang,clang,$(NEEDED)))
$(eval $(call variant,tsan,$(CC),$(NEEDED)))
$(eval $(call variant,riscv64,$(LAB) cross-cc,$(NEEDED)))

# For boards: needs no library of theirs, neither glibc nor musl. Only names of C++ and Rust stay
# mangled. What libdw and libbpf want comes behind them.
$(B)/board/perf-rvtrace: $(CMD_SRC:%.c=$(B)/riscv64/%.o) $(ARCHIVES:%=$(B)/riscv64/%)
	@mkdir -p $(@D)
	$(call brief,LINK,$@)$(LAB) cross-cc -static -s $(LDFLAGS) -o $@ $^ $(LIBS) $(LIBS_riscv64) -lelf -llzma -lbz2 \
		-lz -lzstd 2>$@.log || { cat $@.log >&2; exit 1; }
	@rm $@.log

## make board       a static perf-rvtrace for riscv64 boards (build/board; Documentation/howto-board.rst)
board: lab
	@$(MAKE) --no-print-directory $(B)/board/perf-rvtrace

$(patsubst %,$(B)/%/tools/perf-plugin/main.o,host asan clang tsan riscv64): \
	private CFLAGS_COMMON += -DPERF_RVTRACE_VERSION='"$(VERSION)"'

# $(1): variant; $(2): compiler. Its unit tests are build/$(1)/unit/NAME.
define unit_variant
$(B)/$(1)/unit/%: $(B)/$(1)/tests/unit/%.o $$(UNIT_COMMON:%.c=$(B)/$(1)/%.o) $$(ARCHIVES:%=$(B)/$(1)/%)
	@mkdir -p $$(@D)
	$$(call brief,LINK,$$@)$(2) $$(LDFLAGS_$(1)) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS) $$(LIBS_$(1)) -lcmocka

# Parts of the command that have tests of their own.
$(B)/$(1)/unit/event_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/%.o,record/event \
	record/event-names record/tracepoint common/pmu common/text)
$(B)/$(1)/unit/itrace_time_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/common/%.o,cmd insn-code itrace \
	perf-options text)
$(B)/$(1)/unit/insn_code_test: $(B)/$(1)/tools/perf-plugin/common/insn-code.o
$(B)/$(1)/unit/demangle_test: $(B)/$(1)/tools/perf-plugin/common/demangle.o
$(B)/$(1)/unit/histogram_test: $(B)/$(1)/tools/perf-plugin/common/histogram.o
$(B)/$(1)/unit/json_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/common/%.o,json text)
$(B)/$(1)/unit/memory_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/common/%.o,cmd memory perf-options text)
$(B)/$(1)/unit/text_test: $(B)/$(1)/tools/perf-plugin/common/text.o
$(B)/$(1)/unit/times_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/common/%.o,text times)
$(B)/$(1)/unit/model_number_test: $(B)/$(1)/tools/model/number.o
$(patsubst %,$(B)/$(1)/unit/tandem_%_test,verify insn observed told damage): $$(patsubst %,$(B)/$(1)/tools/perf-plugin/tandem/%.o,unicorn \
	corrections)
$(B)/$(1)/unit/record_cache_test: $(B)/$(1)/tools/perf-plugin/record/cache.o
$(B)/$(1)/unit/record_command_test: $(B)/$(1)/tools/perf-plugin/record/command.o
$(B)/$(1)/unit/record_control_test: $(B)/$(1)/tools/perf-plugin/record/control.o
$(B)/$(1)/unit/record_index_test: $$(patsubst %,$(B)/$(1)/tools/perf-plugin/%.o,common/cmd common/perf-options \
	common/text record/index)
$(B)/$(1)/unit/record_newest_test: $(B)/$(1)/tools/perf-plugin/record/read-rings.o

unit-programs-$(1): $$(patsubst tests/unit/%.c,$(B)/$(1)/unit/%,$$(UNIT_SRC))
.PHONY: unit-programs-$(1)
endef
$(eval $(call unit_variant,asan,$(CC)))
$(eval $(call unit_variant,clang,clang))
$(eval $(call unit_variant,tsan,$(CC)))
$(eval $(call unit_variant,riscv64,$(LAB) cross-cc))

# It runs programs and asks the model what their instructions are.
$(B)/host/rvt-trace-size: $(B)/host/tests/tools/bare-program.o $(B)/host/tools/model/itype.o
$(B)/host/rvt-trace-size: LIBS += $(LIBS_host)
# It makes recordings as unit tests do.
$(B)/host/rvt-recording $(B)/host/rvt-grow $(B)/host/rvt-accesses $(B)/host/rvt-execute: \
	$(UNIT_COMMON:%.c=$(B)/host/%.o)
$(B)/host/rvt-recording $(B)/host/rvt-grow $(B)/host/rvt-accesses $(B)/host/rvt-execute: LIBS += -lcmocka
$(B)/host/rvt-execute: LIBS += $(LIBS_host)
# The instructions that unit tests make, too.
$(B)/host/rvt-insns: $(B)/host/tests/unit/rv-insns.o $(B)/host/tests/unit/random.o
$(B)/host/rvt-%: $(B)/host/tests/tools/rvt-%.o $(ARCHIVES:%=$(B)/host/%)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# The command, but with small parts of recordings for several threads.
$(B)/host/perf-rvtrace-small-slices: $(CMD_SRC:%.c=$(B)/host/%.o) $(B)/host/tests/tools/small-slices.o \
		$(PROTO_host) $(ARCHIVES:%=$(B)/host/%)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -Wl,--wrap=rvt_session_open,--wrap=rvt_session_open_dump,--wrap=pages_run -o $@ $^ $(LIBS) $(LIBS_host)

tools: $(patsubst tests/tools/%.c,$(B)/host/%,$(TOOL_SRC)) $(B)/host/perf-rvtrace-small-slices
unit-programs: unit-programs-asan
.PHONY: tools unit-programs
.SECONDARY:
FORCE:
.PHONY: FORCE

## make clean       removes what was built (build/)
clean:
	rm -rf $(B)

## make distclean   clean, and what other ways of building leave in the tree; the lab's cache: tools/lab/lab clean --all
distclean: clean
	$(MAKE) --no-print-directory -C selftests clean

-include tools/model/module.mk tools/fleet-mpi/module.mk drivers/module.mk tests/module.mk packaging/module.mk \
	tools/traceevent-plugin/module.mk tools/bench/module.mk tools/gate/module.mk \
	tests/fuzz/module.mk upstream/module.mk
# Only where compilers write: guest runs come and go under $(B) meanwhile.
-include $(shell find $(B)/host $(B)/asan $(B)/clang $(B)/tsan $(B)/riscv64 -name '*.d' -type f 2>/dev/null)
