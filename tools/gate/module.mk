# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

$(B)/host/rvt-older: $(B)/host/tools/gate/rvt-older.o
	$(call brief,LINK,$@)$(CC) $(LDFLAGS) -o $@ $^
tools: $(B)/host/rvt-older

## make gate BASE=<commit> [GATE=quick|instructions]  same outputs, and not more instructions, than that commit (Documentation/testing.rst)
gate:
	@tools/setup-host valgrind
	@tools/gate/gate "$(BASE)" $(GATE)
.PHONY: gate
