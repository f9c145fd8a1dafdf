// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A shared object for processes.c; STEPS makes two of one size with other code. */
static volatile unsigned long sink;

#if STEPS == 1
static __attribute__((noipa)) void first_plugin(void)
{
	sink += 1;
}
#define inner first_plugin
#else
static __attribute__((noipa)) void second_plugin(void)
{
	if (sink)
		sink += 2;
	sink += 3;
}
#define inner second_plugin
#endif

__attribute__((noipa)) void plugin_function(void)
{
	inner();
	sink++;
}
