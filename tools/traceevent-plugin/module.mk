# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# The plugin of libtraceevent. Optional: it needs libtraceevent-dev.

TRACEEVENT_CFLAGS := $(shell $(PKG_CONFIG) --cflags libtraceevent 2>/dev/null)
# The place where the library of this machine looks.
TRACEEVENT_LIBDIR := $(shell $(PKG_CONFIG) --variable=libdir libtraceevent 2>/dev/null)
traceeventdir ?= $(TRACEEVENT_LIBDIR)/traceevent/plugins

## make traceevent-plugin  the driver's tracepoints in words, for perf script and trace-cmd
traceevent-plugin: $(B)/host/plugin_rvtrace.so
install-traceevent-plugin: $(B)/host/plugin_rvtrace.so
	$(INSTALL) -d $(DESTDIR)$(traceeventdir)
	$(INSTALL) -m 755 $< $(DESTDIR)$(traceeventdir)/plugin_rvtrace.so

$(B)/host/plugin_rvtrace.so: tools/traceevent-plugin/plugin_rvtrace.c
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --exists libtraceevent || \
		{ echo "rvtrace: install libtraceevent-dev to build the plugin of libtraceevent" >&2; false; }
	$(call brief,LINK,$@)$(CC) $(CFLAGS_COMMON) $(TRACEEVENT_CFLAGS) -O2 -fPIC -shared -o $@ $<

# The guest has the library and its headers.
$(B)/riscv64/plugin_rvtrace.so: tools/traceevent-plugin/plugin_rvtrace.c
	@mkdir -p $(@D)
	$(call brief,LINK,$@)$(LAB) cross-cc $(CFLAGS_COMMON) -I$$($(LAB) path guest)/usr/include/traceevent -O2 -fPIC -shared -o $@ $<

.PHONY: traceevent-plugin install-traceevent-plugin
