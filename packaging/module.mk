# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# Installation: the command, the library for other programs, man pages, completion, and the driver's
# sources for DKMS. DESTDIR and the directories below can be set on the command line.

prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
# Where Debian's Python looks for packages, and with the usual prefix where this machine's does.
pythondir ?= $(or $(if $(filter /usr/local,$(prefix)),$(shell python3 -c \
	'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)),$(prefix)/lib/python3/dist-packages)
bashcompdir ?= $(datadir)/bash-completion/completions
dkmssrcdir ?= $(prefix)/src
INSTALL ?= install

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_DIR = $(DESTDIR)$(dkmssrcdir)/rvtrace-$(VERSION)
# Kconfig files go along: the driver folders can be dropped into a kernel tree as they are.
DKMS_FILES = $(DRIVER_SRC) $(wildcard drivers/hwtracing/rvtrace/Kconfig drivers/perf/Kconfig) dkms.conf \
	LICENSES/GPL-2.0-only.txt LICENSES/Linux-syscall-note.txt

CHIPS := $(wildcard share/rvtrace/chips/*)

## make install     command, chips, library, Python module, man pages, completion, DKMS sources (DESTDIR, prefix)
install: install-command install-chips install-library install-python install-man \
	install-completion install-dkms
ifeq ($(DESTDIR),)
	@if [ "$$(id -u)" = 0 ] && PATH=$$PATH:/sbin command -v ldconfig >/dev/null; then \
		PATH=$$PATH:/sbin ldconfig; \
	else \
		echo "rvtrace: run ldconfig as root, so that programs find librvtrace.so.0"; \
	fi
	@PATH=$$PATH:/sbin ldconfig -p 2>/dev/null | grep -qF ' $(libdir)/librvtrace.so.0' || \
		echo "rvtrace: the loader does not look in $(libdir): name it in /etc/ld.so.conf.d, or in LD_LIBRARY_PATH"
endif

# With MPI where `make fleet` has built that, too.
install-command: $(B)/host/perf-rvtrace $(wildcard $(FLEET_MPI))
	$(INSTALL) -d $(DESTDIR)$(bindir)
	$(INSTALL) -m 755 $< $(DESTDIR)$(bindir)/perf-rvtrace
	[ ! -e $(FLEET_MPI) ] || $(INSTALL) -m 755 $(FLEET_MPI) $(DESTDIR)$(bindir)/perf-rvtrace-mpi

# The command looks for them beside its own directory: ../share/rvtrace/chips.
install-chips:
	$(INSTALL) -d $(DESTDIR)$(prefix)/share/rvtrace/chips
	$(INSTALL) -m 644 $(CHIPS) $(DESTDIR)$(prefix)/share/rvtrace/chips/
	$(INSTALL) -d $(DESTDIR)$(prefix)/share/rvtrace/slurm $(DESTDIR)$(prefix)/share/rvtrace/systemd
	$(INSTALL) -m 755 $(wildcard share/rvtrace/slurm/*) $(DESTDIR)$(prefix)/share/rvtrace/slurm/
	$(INSTALL) -m 644 $(wildcard share/rvtrace/systemd/*) $(DESTDIR)$(prefix)/share/rvtrace/systemd/

# For which machine: a variant of the Makefile
LIB_FOR ?= host
install-library: $(B)/$(LIB_FOR)/librvtrace.a $(B)/$(LIB_FOR)/librvtrace.so
	$(INSTALL) -d $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(includedir)/rvtrace
	$(INSTALL) -m 644 $(B)/$(LIB_FOR)/librvtrace.a $(DESTDIR)$(libdir)/
	$(INSTALL) -m 755 $(B)/$(LIB_FOR)/librvtrace.so $(DESTDIR)$(libdir)/librvtrace.so.0
	ln -sf librvtrace.so.0 $(DESTDIR)$(libdir)/librvtrace.so
	$(INSTALL) -m 644 $(addprefix include/rvtrace/,$(shell cat packaging/public-headers)) $(DESTDIR)$(includedir)/rvtrace/
	sed -e 's,@PREFIX@,$(prefix),' -e 's,@LIBDIR@,$(libdir),' -e 's,@INCLUDEDIR@,$(includedir),' \
		-e 's,@VERSION@,$(VERSION),' -e 's,@LIBS@,$(LIBS),' packaging/librvtrace.pc.in \
		>$(DESTDIR)$(libdir)/pkgconfig/librvtrace.pc
	chmod 644 $(DESTDIR)$(libdir)/pkgconfig/librvtrace.pc

install-python:
	$(INSTALL) -d $(DESTDIR)$(pythondir)/rvtrace
	$(INSTALL) -m 644 $(wildcard userspace/python/rvtrace/*.py) $(DESTDIR)$(pythondir)/rvtrace/

install-man:
	$(INSTALL) -d $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 $(wildcard Documentation/man/*.1) $(DESTDIR)$(mandir)/man1/

install-completion:
	$(INSTALL) -d $(DESTDIR)$(bashcompdir)
	$(INSTALL) -m 644 completions/perf-rvtrace $(DESTDIR)$(bashcompdir)/perf-rvtrace

# `dkms add -m rvtrace -v VERSION` finds it where dkmssrcdir is /usr/src; elsewhere: `dkms add DIRECTORY`.
install-dkms:
	$(INSTALL) -d $(DKMS_DIR)
	for file in $(DKMS_FILES); do $(INSTALL) -D -m 644 $$file $(DKMS_DIR)/$$file || exit; done

## make uninstall   removes what install put there (same DESTDIR and prefix); a module that DKMS built: dkms remove
uninstall:
	rm -f $(DESTDIR)$(bindir)/perf-rvtrace $(DESTDIR)$(bindir)/perf-rvtrace-mpi $(DESTDIR)$(bashcompdir)/perf-rvtrace
	rm -f $(patsubst %,$(DESTDIR)$(libdir)/%,librvtrace.a librvtrace.so librvtrace.so.0 pkgconfig/librvtrace.pc)
	rm -f $(patsubst Documentation/man/%,$(DESTDIR)$(mandir)/man1/%,$(wildcard Documentation/man/*.1))
	rm -rf $(DESTDIR)$(includedir)/rvtrace $(DESTDIR)$(prefix)/share/rvtrace \
		$(DESTDIR)$(pythondir)/rvtrace $(DKMS_DIR)
ifeq ($(DESTDIR),)
	@[ "$$(id -u)" != 0 ] || PATH=$$PATH:/sbin ldconfig 2>/dev/null || true
endif

## make deb         Debian packages, in build/deb: perf-rvtrace, perf-rvtrace-mpi, librvtrace0, librvtrace-dev, python3-rvtrace, rvtrace-dkms
deb:
	@tools/setup-host build-essential debhelper dh-dkms dh-python libcapstone-dev mpi-default-dev
	packaging/deb $(B)/deb

## make symbol-map  the list of the library's public functions, made from the headers
symbol-map:
	packaging/symbol-map >userspace/lib/librvtrace.map.new
	mv userspace/lib/librvtrace.map.new userspace/lib/librvtrace.map

## make abi         the stored description of the library's interface, after a change of it that is meant
abi: $(B)/host/librvtrace.so
	@tools/setup-host abigail-tools
	packaging/abi $< >$(B)/librvtrace.abi
	mv $(B)/librvtrace.abi packaging/librvtrace.abi

.PHONY: abi deb install uninstall install-command install-chips install-library install-python \
	install-man install-completion install-dkms symbol-map
