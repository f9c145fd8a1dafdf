// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unbinds a platform device from its driver, whatever uses it, as the removal of the device would:
 * write its name to the parameter "unbind". "bind" brings it back.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

static int with_device(const char *text, int (*fn)(struct device *dev))
{
	char name[64];
	struct device *dev;
	int ret;

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&platform_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	ret = fn(dev);
	put_device(dev);
	return ret;
}

static int unbind(struct device *dev)
{
	device_release_driver(dev);
	return 0;
}

static int bind(struct device *dev)
{
	return device_attach(dev) > 0 ? 0 : -ENXIO;
}

static int set_unbind(const char *text, const struct kernel_param *param)
{
	return with_device(text, unbind);
}

static int set_bind(const char *text, const struct kernel_param *param)
{
	return with_device(text, bind);
}

static const struct kernel_param_ops unbind_ops = { .set = set_unbind };
static const struct kernel_param_ops bind_ops = { .set = set_bind };
module_param_cb(unbind, &unbind_ops, NULL, 0200);
module_param_cb(bind, &bind_ops, NULL, 0200);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Unbinds devices that are in use, for tests of rvtrace");
MODULE_LICENSE("GPL");
