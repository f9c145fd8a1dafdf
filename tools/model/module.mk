# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

MODEL_SRC := $(sort $(wildcard tools/model/*.c))

# The archives bring the encoders, the truth writer, and what they need. Of the library that is a few
# objects, as they were before the engine's became one: the emulator has none of its libraries.
$(B)/model/librvtrace.a: $(LIB_SRC:%.c=$(B)/host/%.o)
	@mkdir -p $(@D)
	$(call brief,AR,$@)rm -f $@ && $(AR) rcs $@ $^

$(B)/model/rvtrace-model.so: $(MODEL_SRC:%.c=$(B)/host/%.o) $(B)/host/librvtrace-model.a $(B)/model/librvtrace.a
	@mkdir -p $(@D)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -fno-lto -shared -o $@ $^ -lzstd -lpthread

# The producer of tandem traces, a plugin of its own (Documentation/tandem.rst).
TANDEM_SRC := $(sort $(wildcard tools/model/tandem/*.c)) userspace/model/tandem/codec.c \
	userspace/model/tandem/names.c userspace/model/tandem/access.c userspace/model/tandem/expand.c \
	userspace/model/tandem/privileged.c userspace/model/tandem/memory.c tools/model/number.c
$(B)/model/rvtrace-tandem.so: $(TANDEM_SRC:%.c=$(B)/host/%.o)
	@mkdir -p $(@D)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -shared -o $@ $^

# Control Transfer Records: log of what was executed, registers of the draft, counter overflow.
CTR_SRC := $(sort $(wildcard tools/model/ctr/*.c)) tools/model/itype.c tools/model/number.c
$(B)/model/rvtrace-ctr.so: $(CTR_SRC:%.c=$(B)/host/%.o)
	@mkdir -p $(@D)
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -shared -o $@ $^ -lpthread

## make model       the hardware model, plugins of QEMU
model: $(B)/model/rvtrace-model.so $(B)/model/rvtrace-tandem.so $(B)/model/rvtrace-ctr.so
.PHONY: model
