# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

$(B)/host/rvt-bench: $(B)/host/tools/bench/rvt-bench.o $(B)/host/tools/perf-plugin/decode/print.o \
		$(B)/host/librvtrace.a
	$(CC) -o $@ $^ $(LIBS)

$(B)/host/rvt-extract: $(B)/host/tools/bench/rvt-extract.o $(B)/host/librvtrace.a
	$(CC) -o $@ $^ $(LIBS)

## make bench       how fast recordings of real programs are decoded (see Documentation/bench.rst)
bench: deps
	@$(MAKE) --no-print-directory lab
	@$(MAKE) --no-print-directory demo-parts $(B)/host/rvt-bench $(B)/host/rvt-extract \
		$(B)/host/rvt-scale
	@tools/bench/bench

$(B)/host/rvt-scale: $(B)/host/tools/bench/rvt-scale.o $(B)/host/librvtrace.a
	$(CC) -o $@ $^ $(LIBS)

## make bench-scaling  how decoding scales with trace and mappings
bench-scaling: $(B)/host/rvt-scale
	@tools/bench/scaling
