/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module whose functions run a number of times that the test knows: 7 times when it is loaded, as
 * often as is written to the parameter "run", 5 times when it is removed. The parameter "key"
 * switches between two ways through the code, by a static key. PREFIX: of the functions' names.
 */
#include <linux/jump_label.h>
#include <linux/module.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(what) JOIN(PREFIX, what)

static DEFINE_STATIC_KEY_FALSE(key);
static unsigned long sum;

static noinline void NAME(_on)(void)
{
	WRITE_ONCE(sum, sum + ON_STEP);
}

static noinline void NAME(_off)(void)
{
	WRITE_ONCE(sum, sum + 1);
}

static noinline void NAME(_work)(void)
{
	if (static_branch_unlikely(&key))
		NAME(_on)();
	else
		NAME(_off)();
}

static noinline __init void NAME(_init)(void)
{
	WRITE_ONCE(sum, sum + 3);
}

static noinline __exit void NAME(_exit)(void)
{
	WRITE_ONCE(sum, sum - 1);
}

static int set_run(const char *text, const struct kernel_param *param)
{
	unsigned int n;
	int err = kstrtouint(text, 0, &n);

	while (!err && n--)
		NAME(_work)();
	return err;
}

static int set_key(const char *text, const struct kernel_param *param)
{
	bool on;
	int err = kstrtobool(text, &on);

	if (!err && on)
		static_branch_enable(&key);
	else if (!err)
		static_branch_disable(&key);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
static const struct kernel_param_ops key_ops = { .set = set_key };
module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(key, &key_ops, NULL, 0200);

static int __init begin(void)
{
	for (int i = 0; i < 7; i++)
		NAME(_init)();
	return 0;
}

static void __exit end(void)
{
	for (int i = 0; i < 5; i++)
		NAME(_exit)();
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Counted functions, for tests of rvtrace");
MODULE_LICENSE("GPL");
