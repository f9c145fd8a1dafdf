# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause

## make gate BASE=<commit> [GATE=quick]  same outputs, and not more instructions, than that commit (Documentation/testing.rst)
gate:
	@tools/setup-host valgrind
	@tools/gate/gate "$(BASE)" $(GATE)
.PHONY: gate
