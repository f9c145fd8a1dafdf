/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V trace: the encoder. Its probing, options, filters, discovery attributes and sysfs files
 * (rvtrace-encoder*.c, rvtrace-filter.c, rvtrace-discovery.c).
 */
#ifndef _RVTRACE_ENCODER_H
#define _RVTRACE_ENCODER_H

#include <linux/perf_event.h>

#include "rvtrace-component.h"
#include "rvtrace-event.h"
#include "rvtrace-path.h"

/* trTeInstMode */
#define RVTRACE_MODE_BASELINE			3
#define RVTRACE_MODE_OPTIMIZED			6

/**
 * enum rvtrace_format - trace format, as in trTeFormat
 * @RVTRACE_FORMAT_ETRACE:	E-Trace
 * @RVTRACE_FORMAT_NTRACE:	N-Trace
 * @RVTRACE_FORMATS:		array size
 */
enum rvtrace_format {
	RVTRACE_FORMAT_ETRACE,
	RVTRACE_FORMAT_NTRACE,
	RVTRACE_FORMATS
};

/**
 * enum rvtrace_dialect - version of E-Trace; packets differ, rvtrace-discovery.c has the names
 * @RVTRACE_DIALECT_0_029:	the draft 0.029
 * @RVTRACE_DIALECT_2_0:	2.0
 * @RVTRACE_DIALECT_2_0_5:	2.0.5
 * @RVTRACE_DIALECTS:		array size
 */
enum rvtrace_dialect {
	RVTRACE_DIALECT_0_029,
	RVTRACE_DIALECT_2_0,
	RVTRACE_DIALECT_2_0_5,
	RVTRACE_DIALECTS
};

/* Number of discovery attributes, those of all dialects together */
#define RVTRACE_ATTRIBUTES			36

/**
 * struct rvtrace_discovery - discovery attributes of an E-Trace encoder
 * @dialect:	version of the specification
 * @values:	discovery attributes in the order of the sysfs group
 */
struct rvtrace_discovery {
	enum rvtrace_dialect dialect;
	u32 values[RVTRACE_ATTRIBUTES];
};

/**
 * struct rvtrace_caps - what an encoder supports in one trace format
 * @modes:		bit per value of trTeInstMode
 * @sync_modes:		bit per value of trTeInstSyncMode
 * @sync_max:		bit per value of trTeInstSyncMax
 * @return_modes:	bit per value of trTeInstImplicitReturnMode
 * @control:		single-bit options of trTeControl
 * @features:		single-bit options of trTeInstFeatures
 */
struct rvtrace_caps {
	u8 modes;
	u8 sync_modes;
	u16 sync_max;
	u8 return_modes;
	u32 control;
	u32 features;
};

/**
 * struct rvtrace_program - an event's options as register values
 * @control:	trTeControl, without Active, Enable and InstTracing
 * @features:	trTeInstFeatures, without SRC
 * @filter:	trTeFilterControl, without comparators; 0 when everything is traced
 * @match:	trTeFilterMatchInst
 * @ecause:	trTeFilterMatchEcause
 * @thread:	the only value of scontext that is traced; 0: all are
 * @tval_control:	control of the comparator of trap values; 0: there is none
 * @tval:	what it compares with
 * @impdef:	trTeFilterMatchValueImpdef
 * @impdef_mask:	trTeFilterMatchMaskImpdef
 * @timestamp:	trTsEnable
 * @holds_guests:	guests are not traced, and no filter holds them back
 */
struct rvtrace_program {
	u32 control;
	u32 features;
	u32 filter;
	u32 match;
	u64 ecause;
	u32 thread;
	u32 tval_control;
	u64 tval;
	u32 impdef;
	u32 impdef_mask;
	bool timestamp;
	bool holds_guests;
};

/**
 * struct rvtrace_triggers - what triggers do: fields of four bits
 * @dbg:	trTeTrigDbgControl
 * @ext_in:	trTeTrigExtInControl
 * @ext_out:	trTeTrigExtOutControl
 */
struct rvtrace_triggers {
	u32 dbg;
	u32 ext_in;
	u32 ext_out;
};

/**
 * struct rvtrace_encoder - a trace encoder
 * @comp:		the component
 * @cpu:		the hart that it traces
 * @online:		the hart is up and the encoder is active
 * @formats:		bit per value of trTeFormat
 * @format:		the default format
 * @caps:		what it supports, by format
 * @discovery:		its discovery attributes, if it has E-Trace
 * @shares:		it can reach a funnel, so its trace must carry SRC
 * @src_id:		value of trTeSrcID
 * @src_bits:		width of SRC in the trace, 0 when there is none
 * @inhibit_src:	trTeInhibitSrc keeps SRC out of the trace
 * @filters:		trTeInstFilters: bit per filter
 * @privilege_set:	privilege modes that a filter can let through
 * @privilege_clear:	privilege modes that a filter can hold back
 * @filter_options:	match conditions that a filter has
 * @selectable:		number of comparators that a filter can select
 * @comparators:	number of those that can compare addresses
 * @context_filter:	the last comparator can compare scontext, too
 * @tval_functions:	the last two can compare trap values: bit per RVTRACE_COMP_*
 * @tval_latches:	the same, from a trap whose value matches to one whose value does not
 * @impdef_mask:	implementation-defined signals that filters can look at
 * @triggers:		what triggers do for events with "trigger"
 * @trigger_bits:	bits of these that the encoder takes in some value
 * @config:		serial number of the configuration in its registers, or 0
 * @program:		the register values of that configuration
 * @paths:		paths to sinks; the first is the default
 * @nr_paths:		number of entries in @paths
 */
struct rvtrace_encoder {
	struct rvtrace_component comp;
	int cpu;
	bool online;
	u8 formats;
	enum rvtrace_format format;
	struct rvtrace_caps caps[RVTRACE_FORMATS];
	struct rvtrace_discovery discovery;
	bool shares;
	u16 src_id;
	u8 src_bits;
	bool inhibit_src;
	u16 filters;
	u8 privilege_set;
	u8 privilege_clear;
	u32 filter_options;
	u8 selectable;
	u8 comparators;
	bool context_filter;
	u8 tval_functions;
	u8 tval_latches;
	u32 impdef_mask;
	struct rvtrace_triggers triggers;
	struct rvtrace_triggers trigger_bits;
	u64 config;
	struct rvtrace_program program;
	struct rvtrace_path paths[RVTRACE_MAX_PATHS];
	unsigned int nr_paths;
};

#define to_rvtrace_encoder(c)	container_of(c, struct rvtrace_encoder, comp)

/*
 * Returns the path to the sink with number @sink, or to the default sink for 0. NULL: there is
 * none.
 */
static inline struct rvtrace_path *rvtrace_encoder_path(struct rvtrace_encoder *enc, u32 sink)
{
	return sink ? rvtrace_encoder_find_path(enc, sink) : &enc->paths[0];
}

/*
 * Starts or ends the trace. When the encoder is disabled, it flushes the message that ends the
 * trace with the rest: Empty need not become 1 before.
 */
static inline void rvtrace_encoder_set_tracing(struct rvtrace_encoder *enc, bool tracing)
{
	struct rvtrace_component *comp = &enc->comp;

	if (tracing)
		comp->control |= RVTRACE_TE_CONTROL_INST_TRACING;
	else
		comp->control &= ~RVTRACE_TE_CONTROL_INST_TRACING;
	rvtrace_write(comp, RVTRACE_CONTROL, comp->control);
}

/*
 * Returns whether the encoder had to drop messages since it was enabled, by a value of trTeControl.
 */
static inline bool rvtrace_encoder_lost(const struct rvtrace_encoder *enc, u32 control)
{
	return control & RVTRACE_TE_CONTROL_INST_STALL_OR_OVERFLOW &&
	       !(enc->comp.control & RVTRACE_TE_CONTROL_INST_STALL_ENA);
}

/* rvtrace-discovery.c */
extern const struct attribute_group rvtrace_discovery_group;

int rvtrace_discovery_probe(struct rvtrace_encoder *enc);
bool rvtrace_discovery_tells_guests(const struct rvtrace_encoder *enc);
ssize_t rvtrace_discovery_emit(const struct rvtrace_encoder *enc, char *buf, ssize_t len);

/* rvtrace-filter.c */
void rvtrace_filter_probe(struct rvtrace_encoder *enc);
int rvtrace_filter_configure(const struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			     struct rvtrace_program *program);
int rvtrace_filter_program(struct rvtrace_encoder *enc, const struct rvtrace_config *config);
int rvtrace_filter_validate(struct list_head *filters);
void rvtrace_filter_sync(struct perf_event *event);
void rvtrace_filter_open(struct rvtrace_config *config, const struct perf_event *event);
void rvtrace_filter_close(struct rvtrace_config *config);
unsigned int rvtrace_filter_count(const struct rvtrace_encoder *enc);

/* rvtrace-encoder-probe.c */
int rvtrace_encoder_probe(struct rvtrace_component *comp);

/* rvtrace-encoder-sysfs.c */
extern const struct attribute_group *rvtrace_encoder_groups[];

const char *rvtrace_format_name(enum rvtrace_format format);
ssize_t rvtrace_encoder_params(struct rvtrace_encoder *enc, char *buf);
ssize_t rvtrace_features_emit(char *buf, u32 features, u32 control, bool timestamp);

/* rvtrace-encoder.c */
extern const struct rvtrace_ops rvtrace_encoder_ops;

int rvtrace_encoder_configure(const struct rvtrace_encoder *enc,
			      const struct perf_event_attr *attr, struct rvtrace_program *program);
int rvtrace_encoder_start(struct rvtrace_encoder *enc, const struct perf_event_attr *attr,
			  const struct rvtrace_config *config, bool tracing);

/* For rvtrace-kunit.c; static without CONFIG_KUNIT */
#if IS_ENABLED(CONFIG_KUNIT)
int rvtrace_probe_src(struct rvtrace_encoder *enc);
const char *rvtrace_params_value(char *params, const char *key);
void rvtrace_sync_one(struct rvtrace_config *config, const struct perf_addr_filter *filter,
		      u64 start, u64 size);
#endif

#endif
