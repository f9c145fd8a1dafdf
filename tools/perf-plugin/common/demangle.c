// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Demangles by the C++ run-time library, which a machine with C++ programs has. It is loaded when
 * the first name needs it, so that nothing else depends on it.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "common/demangle.h"

/* __cxa_demangle() of the C++ ABI (Itanium), section 3.4. */
typedef char *demangle_fn(const char *name, char *buffer, size_t *len, int *status);

/*
 * Absent in a static program, whose dlopen() only works with the C library that it was built with.
 */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak));

static demangle_fn *load(void)
{
	static demangle_fn *loaded;
	static bool tried;
	void *library;

	if (tried)
		return loaded;
	tried = true;
	if (!_DYNAMIC)
		return NULL;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&loaded = dlsym(library, "__cxa_demangle");
	return loaded;
}

char *demangle(const char *name)
{
	demangle_fn *call = strncmp(name, "_Z", 2) ? NULL : load();
	int status;

	return call ? call(name, NULL, NULL, &status) : NULL;
}
