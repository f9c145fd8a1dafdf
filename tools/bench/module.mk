# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

$(B)/host/rvt-bench: $(B)/host/tools/bench/rvt-bench.o $(B)/host/librvtrace.a
	$(CC) -o $@ $^ $(LIBS)
