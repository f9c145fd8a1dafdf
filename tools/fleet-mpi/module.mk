# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# perf-rvtrace-mpi: the command, with ranks of MPI for `fleet`. Only where there is an mpicc (of
# OpenMPI or MPICH), and a program of its own, so that nobody else needs the library. MPICC names
# another one.

MPICC ?= $(shell command -v mpicc)
FLEET_MPI := $(B)/host/perf-rvtrace-mpi
FLEET_RANKS := tools/fleet-mpi/ranks

## make fleet       perf-rvtrace-mpi, for `fleet` on many machines (needs mpicc; Documentation/fleet.rst)
fleet:
	@[ -n '$(MPICC)' ] || { echo "rvtrace: there is no mpicc: install libopenmpi-dev or libmpich-dev" \
		"(the packages' names are Debian's)" >&2; exit 1; }
	@$(MAKE) --no-print-directory $(FLEET_MPI)

$(B)/host/$(FLEET_RANKS).o: $(FLEET_RANKS).c $(B)/host/flags
	@mkdir -p $(@D)
	$(call brief,MPICC,$@)$(MPICC) $(CFLAGS_COMMON) $(CFLAGS_ERROR) $(CFLAGS_host) $(CFLAGS) -c -o $@ $<

$(FLEET_MPI): $(filter-out %/fleet/ranks.o,$(CMD_SRC:%.c=$(B)/host/%.o)) $(B)/host/$(FLEET_RANKS).o \
		$(PROTO_host) $(ARCHIVES:%=$(B)/host/%)
	$(call brief,LINK,$@)$(MPICC) $(LDFLAGS) -o $@ $^ $(LIBS) $(LIBS_host)

.PHONY: fleet
