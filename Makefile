# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Two targets matter to most people: `make demo` and `make check` (see README.md).
# Products go under build/: host/ (optimised), asan/ (sanitised, for tests), riscv64/ (guest).

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules
B ?= build
CFLAGS_COMMON := -std=gnu11 -D_GNU_SOURCE -g -Wall -Wextra -Werror \
	-Iinclude -Iuserspace -Iuserspace/lib -Itools/perf-plugin -MMD -MP
LIBS := -lelf -ldw -lzstd -lpthread
LAB := tools/lab/lab
# The golden model of `tandem verify`; only for the machine that analyses.
UNICORN := $(shell pkg-config --exists unicorn 2>/dev/null && echo y)
# The disassembler of `script`: RISC-V came with capstone 5. The guest always has it.
CAPSTONE := $(shell pkg-config --exists 'capstone >= 5' 2>/dev/null && echo y)

# `profile --format chrome`.
JSON := $(shell pkg-config --exists json-c 2>/dev/null && echo y)

LIB_SRC := $(sort $(wildcard userspace/lib/*.c userspace/lib/*/*.c userspace/lib/*/*/*.c))
# *.bpf.c run in the kernel.
CMD_SRC := $(sort $(filter-out %.bpf.c,$(wildcard tools/perf-plugin/*.c tools/perf-plugin/*/*.c)))
UNIT_SRC := $(sort $(wildcard tests/unit/*_test.c))
# Helpers of unit tests: linked to every one of them.
UNIT_COMMON := $(sort $(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c)))
# One program per file: tests/tools/rvt-FOO.c -> build/host/rvt-FOO
TOOL_SRC := $(sort $(wildcard tests/tools/rvt-*.c))

# Decoding is what it is for: 0 to 12 % faster than with -O2 alone, by program.
CFLAGS_host := -O3 -fno-semantic-interposition -fPIC
CFLAGS_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
CFLAGS_riscv64 := -O2 -fPIC
ifeq ($(UNICORN),y)
CFLAGS_host += -DHAVE_UNICORN
CFLAGS_asan += -DHAVE_UNICORN
LIBS_host := -lunicorn
LIBS_asan := -lunicorn
endif
ifeq ($(CAPSTONE),y)
CFLAGS_host += -DHAVE_CAPSTONE $(shell pkg-config --cflags capstone)
CFLAGS_asan += -DHAVE_CAPSTONE $(shell pkg-config --cflags capstone)
LIBS_host += $(shell pkg-config --libs capstone)
LIBS_asan += $(shell pkg-config --libs capstone)
endif
ifeq ($(JSON),y)
CFLAGS_host += -DHAVE_JSON
CFLAGS_asan += -DHAVE_JSON
LIBS_host += -ljson-c
LIBS_asan += -ljson-c
endif
CFLAGS_riscv64 += -DHAVE_CAPSTONE
LIBS_riscv64 := -lcapstone
# What BPF does for `record` needs clang, and libbpf for the machine that records. The guest has that.
ifeq ($(shell clang -print-targets 2>/dev/null | grep -qw bpf && \
	{ pkg-config --exists libbpf 2>/dev/null || [ -d "$$($(LAB) path guest 2>/dev/null)" ]; } && echo y),y)
BPF_OBJECTS := $(patsubst tools/perf-plugin/bpf/%.c,$(B)/%.o,$(wildcard tools/perf-plugin/bpf/*.bpf.c))
BPF_INCLUDE := $(shell pkg-config --exists libbpf 2>/dev/null && pkg-config --variable=includedir libbpf || \
	echo "$$($(LAB) path guest)/usr/include")
ifeq ($(shell pkg-config --exists libbpf 2>/dev/null && echo y),y)
CFLAGS_host += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
CFLAGS_asan += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
LIBS_host += -lbpf
LIBS_asan += -lbpf
endif
CFLAGS_riscv64 += -DHAVE_LIBBPF -DBPF_DIR='"$(B)"'
LIBS_riscv64 += -l:libbpf.a -lelf -lz
endif
LDFLAGS_asan := -fsanitize=address,undefined

.PHONY: all help demo check check-long unit guest driver bench clean distclean deps lab
.DEFAULT_GOAL := all

all: $(B)/host/librvtrace.a $(B)/host/librvtrace.so $(B)/host/perf-rvtrace tools

$(B)/%.bpf.o: tools/perf-plugin/bpf/%.bpf.c tools/perf-plugin/bpf/types.h \
	tools/perf-plugin/bpf/snapshot.h include/rvtrace/kernel-code.h include/rvtrace/switches.h
	@mkdir -p $(@D)
	clang -target bpf -O2 -g -Wall -Wextra -Werror -Iinclude -Itools/perf-plugin -I$(BPF_INCLUDE) -c -o $@ $<

$(patsubst %,$(B)/%/tools/perf-plugin/bpf/load.o,host asan riscv64): $(BPF_OBJECTS)

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

# $(1): variant; $(2): compiler
define variant
# Rewritten when the flags change, say because an optional library has been installed.
$(B)/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(CFLAGS)' | cmp -s - $$@ || \
		echo '$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(CFLAGS)' >$$@

$(B)/$(1)/%.o: %.c $(B)/$(1)/flags
	@mkdir -p $$(@D)
	$(2) $$(CFLAGS_COMMON) $$(CFLAGS_$(1)) $$(CFLAGS) -c -o $$@ $$<

$(B)/$(1)/librvtrace.a: $$(LIB_SRC:%.c=$(B)/$(1)/%.o)
	rm -f $$@ && ar rcs $$@ $$^

$(B)/$(1)/perf-rvtrace: $$(CMD_SRC:%.c=$(B)/$(1)/%.o) $(B)/$(1)/librvtrace.a
	$(2) $$(LDFLAGS_$(1)) $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(LIBS_$(1))
endef
$(eval $(call variant,host,$(CC)))
$(eval $(call variant,asan,$(CC)))
$(eval $(call variant,riscv64,$(LAB) cross-cc))

$(B)/host/librvtrace.so: $(LIB_SRC:%.c=$(B)/host/%.o) userspace/lib/librvtrace.map
	$(CC) -shared -Wl,-soname,librvtrace.so.0 -Wl,--version-script=userspace/lib/librvtrace.map \
		-o $@ $(filter %.o,$^) $(LIBS)

$(B)/asan/unit/%: $(B)/asan/tests/unit/%.o $(UNIT_COMMON:%.c=$(B)/asan/%.o) $(B)/asan/librvtrace.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS_asan) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(LIBS_asan) -lcmocka

# Parts of the command that have tests of their own.
$(B)/asan/unit/event_test: $(patsubst %,$(B)/asan/tools/perf-plugin/%.o,record/event \
	record/event-names record/tracepoint common/pmu common/text)
$(B)/asan/unit/session_slices_test $(B)/asan/unit/transfers_test: $(B)/asan/tools/perf-plugin/common/transfers.o
$(B)/asan/unit/demangle_test: $(B)/asan/tools/perf-plugin/common/demangle.o
$(B)/asan/unit/text_test: $(B)/asan/tools/perf-plugin/common/text.o
$(B)/asan/unit/record_control_test: $(B)/asan/tools/perf-plugin/record/control.o

# It runs programs and asks the model what their instructions are.
$(B)/host/rvt-trace-size: $(B)/host/tests/tools/bare-program.o $(B)/host/tools/model/itype.o
$(B)/host/rvt-trace-size: LIBS += $(LIBS_host)
# It makes recordings as unit tests do.
$(B)/host/rvt-recording: $(UNIT_COMMON:%.c=$(B)/host/%.o)
$(B)/host/rvt-recording: LIBS += -lcmocka
$(B)/host/rvt-%: $(B)/host/tests/tools/rvt-%.o $(B)/host/librvtrace.a
	$(CC) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# The command, but with small parts of recordings for several threads.
$(B)/host/perf-rvtrace-small-slices: $(CMD_SRC:%.c=$(B)/host/%.o) $(B)/host/tests/tools/small-slices.o \
		$(B)/host/librvtrace.a
	$(CC) -Wl,--wrap=rvt_session_open -o $@ $^ $(LIBS) $(LIBS_host)

tools: $(patsubst tests/tools/%.c,$(B)/host/%,$(TOOL_SRC)) $(B)/host/perf-rvtrace-small-slices
unit-programs: $(patsubst tests/unit/%.c,$(B)/asan/unit/%,$(UNIT_SRC))
.PHONY: tools unit-programs
.SECONDARY:
FORCE:
.PHONY: FORCE

clean:
	rm -rf $(B)

-include tools/model/module.mk drivers/module.mk tests/module.mk packaging/module.mk \
	tools/traceevent-plugin/module.mk tools/bench/module.mk tools/gate/module.mk
# Only where compilers write: guest runs come and go under $(B) meanwhile.
-include $(shell find $(B)/host $(B)/asan $(B)/riscv64 -name '*.d' -type f 2>/dev/null)
