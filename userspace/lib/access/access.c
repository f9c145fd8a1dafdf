// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <rvtrace/access.h>

const char *rvt_access_kind_name(enum rvt_access_kind kind)
{
	static const char *const names[] = {
		[RVT_ACCESS_LOAD] = "load", [RVT_ACCESS_STORE] = "store",
		[RVT_ACCESS_ATOMIC] = "atomic", [RVT_ACCESS_CSR] = "csr",
	};

	return kind <= RVT_ACCESS_CSR ? names[kind] : "?";
}

const char *rvt_access_operation_name(enum rvt_access_operation operation)
{
	static const char *const names[RVT_ACCESS_OPERATIONS] = {
		[RVT_ACCESS_PLAIN] = "",
		[RVT_ACCESS_SWAP] = "swap", [RVT_ACCESS_ADD] = "add", [RVT_ACCESS_AND] = "and",
		[RVT_ACCESS_OR] = "or", [RVT_ACCESS_XOR] = "xor", [RVT_ACCESS_MAX] = "max",
		[RVT_ACCESS_MIN] = "min", [RVT_ACCESS_SC_FAILURE] = "sc-failure",
		[RVT_ACCESS_CAS_FAILURE] = "cas-failure", [RVT_ACCESS_CSR_WRITE] = "write",
		[RVT_ACCESS_CSR_SET] = "set", [RVT_ACCESS_CSR_CLEAR] = "clear",
	};

	return operation < RVT_ACCESS_OPERATIONS ? names[operation] : "?";
}
