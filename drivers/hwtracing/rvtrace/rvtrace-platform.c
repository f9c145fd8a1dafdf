// SPDX-License-Identifier: GPL-2.0-only
/*
 * RISC-V trace: components as firmware describes them, and the graph that connects them.
 */
#define pr_fmt(fmt) "rvtrace: " fmt

#include <linux/clk.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_graph.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_qos.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>
#include <linux/reset.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "rvtrace-aux.h"
#include "rvtrace-encoder.h"
#include "rvtrace-flight.h"
#include "rvtrace-pmu.h"
#include "rvtrace-power.h"
#include "rvtrace-ramsink.h"

#define RVTRACE_VERSION_MINOR		0
#define RVTRACE_VERSION_EXPERIMENTAL	15

#define RVTRACE_COMPATIBLE		"riscv,trace-component"

/* The Trace Control Interface 1.0 as it is specified */
static const struct rvtrace_platform_ops rvtrace_standard_ops = {
	.major	= 1,
};

static const struct of_device_id rvtrace_of_match[] = {
	{ .compatible = RVTRACE_COMPATIBLE, .data = &rvtrace_standard_ops },
	{ .compatible = "riscv,trace-encoder", .data = &rvtrace_k3_ops },
	{ .compatible = "riscv,trace-funnel", .data = &rvtrace_k3_ops },
	{ .compatible = "riscv,trace-atbbridge", .data = &rvtrace_k3_ops },
	{ .compatible = "sifive,trace-encoder-v0", .data = &rvtrace_v0_encoder_ops },
	{ .compatible = "sifive,trace-funnel-v0", .data = &rvtrace_v0_funnel_ops },
	/* A kernel with CoreSight's drivers has its own for what is behind ATB bridges. */
#if !IS_ENABLED(CONFIG_CORESIGHT)
	{ .compatible = "rvtrace,coresight-funnel", .data = &rvtrace_csfunnel_ops },
	{ .compatible = "rvtrace,coresight-etf", .data = &rvtrace_etf_ops },
	{ .compatible = "rvtrace,coresight-etr", .data = &rvtrace_etr_ops },
#endif
	{ }
};
MODULE_DEVICE_TABLE(of, rvtrace_of_match);

/*
 * rvtrace_check_version - the version rules of the Trace Control Interface, chapter on versioning
 * @known: the major version that the component's compatible stands for
 *
 * Major 0 is the interface before ratification, whose registers lie elsewhere.
 */
VISIBLE_IF_KUNIT int rvtrace_check_version(struct device *dev, u32 known, u32 impl)
{
	u32 major = FIELD_GET(RVTRACE_IMPL_MAJOR, impl);
	u32 minor = FIELD_GET(RVTRACE_IMPL_MINOR, impl);

	if (major != known) {
		dev_err(dev, "interface version %u.%u%s is not one that this driver knows (%u.%u), component not used (impl 0x%08x)\n",
			major, minor, major ? "" : ", from before ratification,",
			known, RVTRACE_VERSION_MINOR, impl);
		return -ENODEV;
	}
	/* Before ratification minor versions had no rules. */
	if (!major)
		return 0;
	if (minor == RVTRACE_VERSION_EXPERIMENTAL)
		dev_warn(dev, "interface version %u.%u is experimental (impl 0x%08x)\n", major,
			 minor, impl);
	else if (minor > RVTRACE_VERSION_MINOR)
		dev_warn(dev, "interface version %u.%u is newer than this driver's %u.%u: new features are not used (impl 0x%08x)\n",
			 major, minor, known, RVTRACE_VERSION_MINOR, impl);
	return 0;
}

static const struct rvtrace_ops *const rvtrace_ops[RVTRACE_TYPES] = {
	[RVTRACE_TYPE_ENCODER]	= &rvtrace_encoder_ops,
	[RVTRACE_TYPE_FUNNEL]	= &rvtrace_funnel_ops,
	[RVTRACE_TYPE_RAMSINK]	= &rvtrace_ramsink_ops,
	[RVTRACE_TYPE_PIBSINK]	= &rvtrace_pibsink_ops,
	[RVTRACE_TYPE_ATBBRIDGE] = &rvtrace_atbbridge_ops,
};

/* Functions of a component type, or NULL when this driver does not know it */
static const struct rvtrace_ops *rvtrace_ops_of(u32 type)
{
	return type < RVTRACE_TYPES ? rvtrace_ops[type] : NULL;
}

static struct rvtrace_component *rvtrace_find(const struct fwnode_handle *fwnode)
{
	struct rvtrace_component *comp;

	lockdep_assert_held(&rvtrace_mutex);
	list_for_each_entry(comp, &rvtrace_components, list)
		if (dev_fwnode(comp->dev.parent) == fwnode && !comp->inner)
			return comp;
	return NULL;
}

/*
 * Returns the component at the other end: the node above endpoint, port and in-ports. Sets *@port
 * to the input at which the connection arrives there.
 */
static struct fwnode_handle *rvtrace_remote(const struct fwnode_handle *endpoint, u32 *port)
{
	struct fwnode_handle *node = fwnode_graph_get_remote_endpoint(endpoint);
	struct fwnode_endpoint remote = { };

	if (node && !fwnode_graph_parse_endpoint(node, &remote))
		*port = remote.port;
	while (node && !fwnode_property_present(node, "compatible"))
		node = fwnode_get_next_parent(node);
	return node;
}

static int rvtrace_add_output(struct rvtrace_component *comp, struct fwnode_handle *endpoint)
{
	struct device *dev = comp->dev.parent;
	struct rvtrace_component *to;
	struct fwnode_handle *remote;
	u32 port = 0;
	int ret = 0;

	remote = rvtrace_remote(endpoint, &port);
	if (!remote)
		return 0;
	if (!of_match_node(rvtrace_of_match, to_of_node(remote))) {
		comp->leads_out = true;
		goto out;
	}
	if (!fwnode_device_is_available(remote))
		goto out;
	if (comp->nr_outputs == RVTRACE_MAX_OUTPUTS) {
		ret = dev_err_probe(dev, -E2BIG, "more than %d outputs\n", RVTRACE_MAX_OUTPUTS);
		goto out;
	}
	mutex_lock(&rvtrace_mutex);
	to = rvtrace_find(remote);
	if (to)
		get_device(&to->dev);
	mutex_unlock(&rvtrace_mutex);
	if (to)
		comp->outputs[comp->nr_outputs++] = (struct rvtrace_output){ to, port };
	else
		ret = dev_err_probe(dev, -EPROBE_DEFER, "waiting for %pfwP\n", remote);
	/* What is upstream is unbound before it, and bound again after it. */
	if (to && !device_link_add(dev, to->dev.parent, DL_FLAG_AUTOPROBE_CONSUMER))
		ret = dev_err_probe(dev, -EINVAL, "cannot depend on %s\n", dev_name(&to->dev));
out:
	fwnode_handle_put(remote);
	return ret;
}

/*
 * Adds an output for each endpoint under out-ports. Whether the other end links back does not
 * matter.
 */
static int rvtrace_find_outputs(struct rvtrace_component *comp)
{
	struct device *dev = comp->dev.parent;
	struct fwnode_handle *ports, *port, *endpoint;
	int ret = 0;

	ports = device_get_named_child_node(dev, "out-ports");
	if (!ports)
		return 0;
	fwnode_for_each_child_node(ports, port) {
		fwnode_for_each_child_node(port, endpoint) {
			ret = rvtrace_add_output(comp, endpoint);
			if (ret) {
				fwnode_handle_put(endpoint);
				break;
			}
		}
		if (ret) {
			fwnode_handle_put(port);
			break;
		}
	}
	fwnode_handle_put(ports);
	return ret;
}

/*
 * Finds the harts of "cpus": for an encoder, the one that it traces. As a rule, other components
 * name none.
 */
static int rvtrace_find_cpus(struct device *dev, struct cpumask *cpus)
{
	struct device_node *node;
	int cpu, i;

	for (i = 0; (node = of_parse_phandle(dev->of_node, "cpus", i)); i++) {
		cpu = of_cpu_node_to_id(node);
		of_node_put(node);
		if (cpu >= 0)
			cpumask_set_cpu(cpu, cpus);
	}
	if (i && cpumask_empty(cpus))
		return dev_err_probe(dev, -ENODEV, "its hart is not one that Linux uses\n");
	return 0;
}

/*
 * Calls @fn like rvtrace_call(), but @fn may sleep. Returns what @fn returns, or -EPROBE_DEFER when
 * all harts that may access the registers are down.
 */
static int rvtrace_call_sleeping(struct rvtrace_component *comp, int (*fn)(void *), void *data)
{
	unsigned int cpu;
	int ret;

	if (cpumask_empty(&comp->cpus))
		return fn(data);
	cpu = cpumask_any_and(&comp->cpus, cpu_online_mask);
	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(&comp->cpus);
	ret = smp_call_on_cpu(cpu, fn, data, false);
	if (ret != -ENXIO)
		return ret;
	rvtrace_probe_again(cpu);
	return dev_err_probe(comp->dev.parent, -EPROBE_DEFER, "waiting for CPU %u\n", cpu);
}

static int rvtrace_read_impl_here(void *data)
{
	struct rvtrace_component *comp = data;
	int ret;

	ret = rvtrace_activate(comp);
	if (!ret)
		comp->impl = rvtrace_read(comp, RVTRACE_IMPL);
	rvtrace_deactivate(comp);
	return ret;
}

static void rvtrace_leave_other_registers(void *unused)
{
	static_branch_dec(&rvtrace_other_registers);
}

/* Makes register accesses go by @platform, as long as the driver is bound. */
static int rvtrace_enter_other_registers(struct device *dev,
					 const struct rvtrace_platform_ops *platform)
{
	if (!platform->read)
		return 0;
	static_branch_inc(&rvtrace_other_registers);
	return devm_add_action_or_reset(dev, rvtrace_leave_other_registers, NULL);
}

/*
 * Reads the Impl register. It has the type, which says how large the component's structure is, and
 * can be read only after activation. So the first component that is activated is a temporary one.
 */
static int rvtrace_read_impl(struct platform_device *pdev,
			     const struct rvtrace_platform_ops *platform, void __iomem *base,
			     const struct cpumask *cpus, u32 *impl)
{
	static const struct rvtrace_ops none = {
		.name = "component",
		.size = sizeof(struct rvtrace_component),
	};
	struct rvtrace_component *comp;
	int ret;

	comp = kzalloc(none.size, GFP_KERNEL);
	if (!comp)
		return -ENOMEM;
	comp->ops = &none;
	comp->platform = platform;
	comp->base = base;
	cpumask_copy(&comp->cpus, cpus);
	rvtrace_component_init(comp, &pdev->dev);
	ret = rvtrace_call_sleeping(comp, rvtrace_read_impl_here, comp);
	*impl = comp->impl;
	put_device(&comp->dev);
	return ret ?: rvtrace_check_version(&pdev->dev, platform->major, *impl);
}

/**
 * struct rvtrace_clocks - clocks of a device, as clk_bulk has them; what its driver data is
 * @clks:	the clocks
 * @nr:		how many
 * @running:	they are enabled
 */
struct rvtrace_clocks {
	struct clk_bulk_data *clks;
	int nr;
	bool running;
};

static int rvtrace_runtime_resume(struct device *dev)
{
	struct rvtrace_clocks *clocks = dev_get_drvdata(dev);
	int ret;

	ret = clk_bulk_prepare_enable(clocks->nr, clocks->clks);
	clocks->running = !ret;
	return ret;
}

static int rvtrace_runtime_suspend(struct device *dev)
{
	struct rvtrace_clocks *clocks = dev_get_drvdata(dev);

	if (clocks->running)
		clk_bulk_disable_unprepare(clocks->nr, clocks->clks);
	clocks->running = false;
	return 0;
}

static void rvtrace_stop_clocks(void *dev)
{
	rvtrace_runtime_suspend(dev);
}

/* Starts the clocks. From here on they run while the device is in use, for probing at first. */
static int rvtrace_start_clocks(struct device *dev)
{
	struct rvtrace_clocks *clocks;
	int ret;

	clocks = devm_kzalloc(dev, sizeof(*clocks), GFP_KERNEL);
	if (!clocks)
		return -ENOMEM;
	clocks->nr = devm_clk_bulk_get_all(dev, &clocks->clks);
	if (clocks->nr < 0)
		return dev_err_probe(dev, clocks->nr, "waiting for its clocks\n");
	dev_set_drvdata(dev, clocks);
	ret = rvtrace_runtime_resume(dev);
	if (ret)
		return dev_err_probe(dev, ret, "its clocks cannot be enabled\n");
	ret = devm_add_action_or_reset(dev, rvtrace_stop_clocks, dev);
	if (ret)
		return ret;
	pm_runtime_set_active(dev);
	return devm_pm_runtime_enable(dev);
}

static void rvtrace_assert_resets(void *resets)
{
	reset_control_assert(resets);
}

/* Components of a cluster may share a line. */
static int rvtrace_release_resets(struct device *dev)
{
	struct reset_control *resets;
	int ret;

	resets = devm_reset_control_array_get_optional_shared(dev);
	if (IS_ERR(resets))
		return dev_err_probe(dev, PTR_ERR(resets), "waiting for its resets\n");
	ret = reset_control_deassert(resets);
	if (ret)
		return dev_err_probe(dev, ret, "cannot be taken out of reset\n");
	return devm_add_action_or_reset(dev, rvtrace_assert_resets, resets);
}

static void rvtrace_leave_memory(void *dev)
{
	of_reserved_mem_device_release(dev);
}

/* A RAM sink may reach a part of memory only, which firmware names: its buffers come from there. */
static int rvtrace_enter_memory(struct device *dev)
{
	int ret;

	if (!device_property_present(dev, "memory-region"))
		return 0;
	ret = of_reserved_mem_device_init(dev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot use its memory-region\n");
	return devm_add_action_or_reset(dev, rvtrace_leave_memory, dev);
}

static void rvtrace_free(void *data)
{
	struct rvtrace_component *comp = data;

	put_device(&comp->dev);
}

static void rvtrace_remove(void *data)
{
	struct rvtrace_component *comp = data;

	if (comp->type == RVTRACE_TYPE_ENCODER) {
		rvtrace_pmu_remove_encoder(to_rvtrace_encoder(comp));
		rvtrace_flight_remove_encoder(to_rvtrace_encoder(comp));
	}
	rvtrace_unregister(comp);
	if (comp->type == RVTRACE_TYPE_RAMSINK)
		rvtrace_aux_remove_sink(to_rvtrace_ramsink(comp));
}

static int rvtrace_probe_hardware(void *data)
{
	struct rvtrace_component *comp = data;
	int ret;

	ret = rvtrace_activate(comp);
	/* Where the compatible says the type, nobody has read the register yet. */
	if (!ret && comp->platform->type) {
		comp->impl = rvtrace_read(comp, RVTRACE_IMPL);
		ret = rvtrace_check_version(comp->dev.parent, comp->platform->major, comp->impl);
	}
	if (!ret)
		ret = comp->ops->probe(comp);
	rvtrace_deactivate(comp);
	return comp->broken ? -ETIMEDOUT : ret;
}

/**
 * struct rvtrace_inner_sink - a sink that is looked for in the block of another component
 * @host:	the other component
 * @sink:	the sink, if there is one
 * @found:	there is one
 */
struct rvtrace_inner_sink {
	struct rvtrace_component *host;
	struct rvtrace_component *sink;
	bool found;
};

static int rvtrace_probe_inner_sink(void *data)
{
	struct rvtrace_inner_sink *inner = data;
	struct rvtrace_component *host = inner->host;
	int ret;

	ret = rvtrace_activate(host);
	if (!ret)
		inner->found = host->platform->attach_sink(host, inner->sink);
	if (inner->found)
		ret = rvtrace_probe_hardware(inner->sink);
	rvtrace_deactivate(host);
	return ret;
}

/* Makes a component of a sink that is in the block of another one, whose only output it is */
static int rvtrace_add_inner_sink(struct rvtrace_component *host)
{
	struct rvtrace_inner_sink inner = { .host = host };
	struct device *dev = host->dev.parent;
	struct rvtrace_component *sink;
	int ret;

	sink = kzalloc(rvtrace_ramsink_ops.size, GFP_KERNEL);
	if (!sink)
		return -ENOMEM;
	inner.sink = sink;
	sink->ops = &rvtrace_ramsink_ops;
	sink->platform = host->platform;
	sink->inner = true;
	sink->type = RVTRACE_TYPE_RAMSINK;
	cpumask_copy(&sink->cpus, &host->cpus);
	rvtrace_component_init(sink, dev);
	ret = devm_add_action_or_reset(dev, rvtrace_free, sink);
	if (!ret)
		ret = rvtrace_call_sleeping(host, rvtrace_probe_inner_sink, &inner);
	if (ret || !inner.found)
		return ret;
	ret = rvtrace_register(sink);
	if (ret)
		return ret;
	get_device(&sink->dev);
	host->outputs[host->nr_outputs++] = (struct rvtrace_output){ .to = sink };
	return devm_add_action_or_reset(dev, rvtrace_remove, sink);
}

static int rvtrace_suspend_noirq(struct device *dev)
{
	rvtrace_suspend(dev);
	return pm_runtime_force_suspend(dev);
}

static int rvtrace_resume_noirq(struct device *dev)
{
	int ret = pm_runtime_force_resume(dev);

	if (!ret)
		rvtrace_resume(dev);
	return ret;
}

static const struct dev_pm_ops rvtrace_pm_ops = {
	NOIRQ_SYSTEM_SLEEP_PM_OPS(rvtrace_suspend_noirq, rvtrace_resume_noirq)
	RUNTIME_PM_OPS(rvtrace_runtime_suspend, rvtrace_runtime_resume, NULL)
};

static int rvtrace_probe_powered(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	const struct rvtrace_platform_ops *platform = device_get_match_data(dev);
	const struct rvtrace_ops *ops;
	struct rvtrace_component *comp;
	struct cpumask cpus = { };
	void __iomem *base;
	u32 impl;
	int ret;

	base = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(base))
		return PTR_ERR(base);
	ret = rvtrace_find_cpus(dev, &cpus) ?: rvtrace_release_resets(dev) ?:
	      rvtrace_enter_memory(dev) ?: rvtrace_enter_other_registers(dev, platform);
	if (ret)
		return ret;
	impl = FIELD_PREP(RVTRACE_IMPL_TYPE, platform->type);
	if (!platform->type)
		ret = rvtrace_read_impl(pdev, platform, base, &cpus, &impl);
	if (ret)
		return ret;
	ops = rvtrace_ops_of(FIELD_GET(RVTRACE_IMPL_TYPE, impl));
	if (!ops)
		return dev_err_probe(dev, -ENODEV, "unknown component type %lu (impl 0x%08x)\n",
				     FIELD_GET(RVTRACE_IMPL_TYPE, impl), impl);
	comp = kzalloc(ops->size, GFP_KERNEL);
	if (!comp)
		return -ENOMEM;
	comp->ops = ops;
	comp->platform = platform;
	comp->base = base;
	comp->impl = impl;
	comp->type = FIELD_GET(RVTRACE_IMPL_TYPE, impl);
	cpumask_copy(&comp->cpus, &cpus);
	rvtrace_component_init(comp, dev);
	ret = devm_add_action_or_reset(dev, rvtrace_free, comp);
	if (!ret && platform->attach)
		ret = platform->attach(comp);
	if (ret)
		return ret;

	if (platform->attach_sink)
		ret = rvtrace_add_inner_sink(comp);
	if (!ret && !comp->nr_outputs)
		ret = rvtrace_find_outputs(comp);
	if (ret)
		return ret;
	if (comp->type == RVTRACE_TYPE_ENCODER) {
		if (cpumask_weight(&cpus) != 1)
			return dev_err_probe(dev, -EINVAL, "encoder without a hart in \"cpus\"\n");
		to_rvtrace_encoder(comp)->cpu = cpumask_first(&cpus);
		ret = rvtrace_paths_find(to_rvtrace_encoder(comp));
		if (ret)
			return ret;
	}
	ret = rvtrace_call_sleeping(comp, rvtrace_probe_hardware, comp);
	if (ret)
		return ret;
	ret = rvtrace_register(comp);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, rvtrace_remove, comp);
	if (ret || comp->type != RVTRACE_TYPE_ENCODER)
		return ret;
	ret = rvtrace_pmu_add_encoder(to_rvtrace_encoder(comp));
	if (!ret)
		rvtrace_flight_add_encoder(to_rvtrace_encoder(comp));
	return ret;
}

/*
 * What belongs to a hart loses its registers in the midst of a handshake when that hart falls into
 * a deep idle state; and which hart that is, is not known yet. So none does meanwhile.
 */
static int rvtrace_probe_awake(struct platform_device *pdev)
{
	struct pm_qos_request request = { };
	int ret;

	cpu_latency_qos_add_request(&request, 0);
	/* Those that had chosen a state before take an interrupt, and choose again. */
	kick_all_cpus_sync();
	ret = rvtrace_probe_powered(pdev);
	cpu_latency_qos_remove_request(&request);
	return ret;
}

/* The device is off again afterwards, unless there are events that use its components. */
static int rvtrace_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	int ret;

	pm_runtime_get_noresume(dev);
	ret = rvtrace_start_clocks(dev) ?: rvtrace_probe_awake(pdev);
	if (ret)
		pm_runtime_put_noidle(dev);
	else
		pm_runtime_put_sync(dev);
	return ret;
}

/* Called for each component: the first call stops them all, in the order that they need. */
static void rvtrace_platform_shutdown(struct platform_device *pdev)
{
	rvtrace_shutdown();
}

static struct platform_driver rvtrace_driver = {
	.probe = rvtrace_probe,
	.shutdown = rvtrace_platform_shutdown,
	.driver = {
		.name = "rvtrace",
		.of_match_table = rvtrace_of_match,
		.pm = pm_ptr(&rvtrace_pm_ops),
		/* Components are parts of paths that events use. */
		.suppress_bind_attrs = true,
	},
};

int rvtrace_platform_register(void)
{
	struct device_node *node;
	int ret;

	node = of_find_matching_node(NULL, rvtrace_of_match);
	if (!node)
		pr_info("no trace hardware: the devicetree has no node compatible with \"%s\"\n",
			RVTRACE_COMPATIBLE);
	of_node_put(node);
	ret = platform_driver_register(&rvtrace_driver);
	/*
	 * Encoders wait for what is behind them. Who has loaded the module wants to find the PMU.
	 */
	if (!ret)
		wait_for_device_probe();
	return ret;
}

void rvtrace_platform_unregister(void)
{
	platform_driver_unregister(&rvtrace_driver);
}
