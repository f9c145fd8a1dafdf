// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * dlopen PLUGIN FUNCTION TIMES ...: loads each object, calls its function so many times, and
 * unloads it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (int i = 1; i + 2 < argc; i += 3) {
		void *object = dlopen(argv[i], RTLD_NOW);
		void (*function)(void) = object ? (void (*)(void))dlsym(object, argv[i + 1]) : NULL;

		if (!function) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (int n = atoi(argv[i + 2]); n; n--)
			function();
		dlclose(object);
	}
	return 0;
}
