// SPDX-License-Identifier: GPL-2.0-only
/*
 * The power domain of the model's components (power=on, dtb-hook --power), or their clock
 * (clock-gate=on, --gated-clock). Parameters say whether it is on, and how often it was switched
 * on.
 */
#include <linux/clk-provider.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>

static void __iomem *power_switch;
static bool on;
static unsigned int times;
module_param(on, bool, 0444);
module_param(times, uint, 0444);

static void switch_to(bool value)
{
	writel(value, power_switch);
	on = value;
	times += value;
}

static int power_on(struct generic_pm_domain *domain)
{
	switch_to(true);
	return 0;
}

static int power_off(struct generic_pm_domain *domain)
{
	switch_to(false);
	return 0;
}

static struct generic_pm_domain domain = {
	.name = "trace",
	.power_on = power_on,
	.power_off = power_off,
};

static void remove_domain(void *node)
{
	of_genpd_del_provider(node);
	pm_genpd_remove(&domain);
}

static int clock_on(struct clk_hw *hw)
{
	switch_to(true);
	return 0;
}

static void clock_off(struct clk_hw *hw)
{
	switch_to(false);
}

static int clock_is_on(struct clk_hw *hw)
{
	return on;
}

static const struct clk_ops clock_ops = {
	.enable = clock_on,
	.disable = clock_off,
	.is_enabled = clock_is_on,
};

static int provide_clock(struct device *dev)
{
	static const struct clk_init_data init = { .name = "trace", .ops = &clock_ops };
	static struct clk_hw clock;
	int ret;

	clock.init = &init;
	ret = devm_clk_hw_register(dev, &clock);
	return ret ?: devm_of_clk_add_hw_provider(dev, of_clk_hw_simple_get, &clock);
}

static int probe(struct platform_device *pdev)
{
	struct device_node *node = pdev->dev.of_node;
	int ret;

	power_switch = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(power_switch))
		return PTR_ERR(power_switch);
	if (of_property_present(node, "#clock-cells"))
		return provide_clock(&pdev->dev);
	ret = pm_genpd_init(&domain, NULL, true);
	if (ret)
		return ret;
	ret = of_genpd_add_provider_simple(node, &domain);
	if (ret) {
		pm_genpd_remove(&domain);
		return ret;
	}
	return devm_add_action_or_reset(&pdev->dev, remove_domain, node);
}

static const struct of_device_id match[] = {
	{ .compatible = "rvtrace,model-power" },
	{ }
};

static struct platform_driver rvt_power_driver = {
	.probe = probe,
	.driver = {
		.name = "rvt_power",
		.of_match_table = match,
	},
};

module_platform_driver(rvt_power_driver);
MODULE_DESCRIPTION("Power domain of the model's components, for tests of rvtrace");
MODULE_LICENSE("GPL");
