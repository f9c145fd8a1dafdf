# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

$(B)/host/rvt-bench: $(B)/host/tools/bench/rvt-bench.o $(B)/host/tools/perf-plugin/decode/print.o \
		$(B)/host/tools/perf-plugin/common/accesses.o $(B)/host/tools/perf-plugin/common/insn-code.o \
		$(B)/host/tools/perf-plugin/common/marks.o \
		$(B)/host/tools/perf-plugin/common/text.o $(B)/host/librvtrace.a
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/host/tools/bench/rvt-modes.o: private CFLAGS_COMMON += -I.
$(B)/host/rvt-modes: $(B)/host/tools/bench/rvt-modes.o $(B)/host/tests/unit/random-hart.o \
		$(B)/host/tests/unit/rv-asm.o $(ARCHIVES:%=$(B)/host/%)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/host/rvt-extract: $(B)/host/tools/bench/rvt-extract.o $(B)/host/librvtrace.a
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/host/rvt-scale: $(B)/host/tools/bench/rvt-scale.o $(B)/host/librvtrace.a
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/host/rvt-grammar: $(B)/host/tools/bench/rvt-grammar.o
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ -lzstd

# It executes what unit tests execute.
$(B)/host/tools/bench/rvt-dialects.o: private CFLAGS_COMMON += -I.
$(B)/host/rvt-dialects: $(B)/host/tools/bench/rvt-dialects.o $(B)/host/tests/unit/random-hart.o \
		$(B)/host/tests/unit/rv-asm.o $(ARCHIVES:%=$(B)/host/%)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

# Built with everything else, so that it is seen when they no longer fit.
BENCH_TOOLS := $(addprefix $(B)/host/,rvt-bench rvt-dialects rvt-extract rvt-grammar rvt-modes rvt-scale rvt-frames)
tools: $(BENCH_TOOLS)

## make bench       how fast recordings of real programs are decoded (see Documentation/bench.rst)
bench: deps
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory demo-parts $(BENCH_TOOLS)
	@tools/bench/bench

## make bench-index  what an index saves
bench-index:
	@$(MAKE) --no-print-directory lab
	@tools/bench/index

## make bench-inject  what several processors bring to samples
bench-inject: $(B)/host/perf-rvtrace
	@tools/bench/inject
.PHONY: bench-inject

## make bench-without  what each mechanism of the engine brings
bench-without:
	@tools/setup-host valgrind
	@$(MAKE) --no-print-directory lab
	@tools/bench/without
.PHONY: bench-without

## make bench-grammar  what a grammar of the memos of a recording would bring
bench-grammar:
	@$(MAKE) --no-print-directory lab
	@tools/bench/grammar
.PHONY: bench-grammar

## make bench-native  what perf costs that decodes itself (make perf; tests/guest/long/native-perf.t records)
bench-native: $(B)/host/perf-rvtrace
	@tools/bench/native
.PHONY: bench-native

## make bench-scaling  how decoding scales with trace and mappings
bench-scaling: $(B)/host/rvt-scale
	@tools/bench/scaling
