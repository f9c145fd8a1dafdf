# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

MODEL_SRC := $(sort $(wildcard tools/model/*.c))

# Of the library only the encoders and the truth writer are called; the archive brings what they need.
$(B)/model/rvtrace-model.so: $(MODEL_SRC:%.c=$(B)/host/%.o) $(B)/host/librvtrace.a
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $^ -lzstd -lpthread

## make model       the hardware model, a plugin of QEMU
model: $(B)/model/rvtrace-model.so
.PHONY: model
