# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

MODEL_SRC := $(sort $(wildcard tools/model/*.c))
# Of the library: the encoders with their packet tables, and the truth. Nothing that decodes.
MODEL_LIB_SRC := $(sort $(wildcard userspace/lib/ntrace/encoder*.c userspace/lib/etrace/encoder*.c)) \
	userspace/lib/ntrace/tables.c userspace/lib/ntrace/writer.c userspace/lib/truth/writer.c

$(B)/model/rvtrace-model.so: $(MODEL_SRC:%.c=$(B)/host/%.o) $(MODEL_LIB_SRC:%.c=$(B)/host/%.o)
	@mkdir -p $(@D)
	$(CC) -shared -o $@ $^ -lzstd -lpthread

## make model       the hardware model, a plugin of QEMU
model: $(B)/model/rvtrace-model.so
.PHONY: model
