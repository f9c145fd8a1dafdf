-- SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
-- Tables and columns have the names that perf's own export to SQLite gives them, for the programs that
-- read that. Row 0 of a table is what is not known.
CREATE TABLE selected_events (id integer NOT NULL PRIMARY KEY, name varchar(80));
CREATE TABLE machines (id integer NOT NULL PRIMARY KEY, pid integer, root_dir varchar(4096));
CREATE TABLE threads (id integer NOT NULL PRIMARY KEY, machine_id bigint, process_id bigint,
	pid integer, tid integer);
CREATE TABLE comms (id integer NOT NULL PRIMARY KEY, comm varchar(16), c_thread_id bigint,
	c_time bigint, exec_flag boolean, has_calls boolean);
CREATE TABLE comm_threads (id integer NOT NULL PRIMARY KEY, comm_id bigint, thread_id bigint);
CREATE TABLE dsos (id integer NOT NULL PRIMARY KEY, machine_id bigint, short_name varchar(256),
	long_name varchar(4096), build_id varchar(64));
CREATE TABLE symbols (id integer NOT NULL PRIMARY KEY, dso_id bigint, sym_start bigint,
	sym_end bigint, binding integer, name varchar(2048));
CREATE TABLE branch_types (id integer NOT NULL PRIMARY KEY, name varchar(80));
CREATE TABLE samples (id integer NOT NULL PRIMARY KEY, evsel_id bigint, machine_id bigint,
	thread_id bigint, comm_id bigint, dso_id bigint, symbol_id bigint, sym_offset bigint,
	ip bigint, time bigint, cpu integer, to_dso_id bigint, to_symbol_id bigint,
	to_sym_offset bigint, to_ip bigint, branch_type integer, in_tx boolean,
	call_path_id bigint, insn_count bigint, cyc_count bigint, flags integer);
CREATE TABLE call_paths (id integer NOT NULL PRIMARY KEY, parent_id bigint, symbol_id bigint,
	ip bigint);
CREATE TABLE calls (id integer NOT NULL PRIMARY KEY, thread_id bigint, comm_id bigint,
	call_path_id bigint, call_time bigint, return_time bigint, branch_count bigint,
	call_id bigint, return_id bigint, parent_call_path_id bigint, flags integer,
	parent_id bigint, insn_count bigint, cyc_count bigint);
CREATE TABLE context_switches (id integer NOT NULL PRIMARY KEY, machine_id bigint, time bigint,
	cpu integer, thread_out_id bigint, comm_out_id bigint, thread_in_id bigint,
	comm_in_id bigint, flags integer);
-- What of the recorded flow is not here.
CREATE TABLE losses (id integer NOT NULL PRIMARY KEY, lost boolean, insns bigint, gaps bigint,
	bytes bigint, bytes_lost bigint, overruns bigint);

INSERT INTO machines VALUES (0, 0, 'unknown'), (1, -1, '');
INSERT INTO threads VALUES (0, 0, 0, -1, -1);
INSERT INTO comms VALUES (0, 'unknown', 0, 0, 0, 0);
INSERT INTO dsos VALUES (0, 0, 'unknown', 'unknown', '');
INSERT INTO symbols VALUES (0, 0, 0, 0, 0, 'unknown');
INSERT INTO call_paths VALUES (0, 0, 0, 0), (1, 0, 0, 0);
INSERT INTO selected_events VALUES (0, 'unknown'), (1, 'branches');
INSERT INTO calls VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

CREATE VIEW dsos_view AS SELECT id, machine_id, short_name, long_name, build_id FROM dsos;
CREATE VIEW threads_view AS SELECT id, machine_id, process_id, pid, tid FROM threads;
CREATE VIEW symbols_view AS
	SELECT symbols.id, name, short_name AS dso, dso_id, sym_start, sym_end, binding
	FROM symbols JOIN dsos ON dsos.id = dso_id;
CREATE VIEW comm_threads_view AS
	SELECT comm_id, comm AS command, thread_id, pid, tid
	FROM comm_threads JOIN comms ON comms.id = comm_id JOIN threads ON threads.id = thread_id;
CREATE VIEW call_paths_view AS
	SELECT path.id, printf('%x', path.ip) AS ip, path.symbol_id, called.name AS symbol,
		path.parent_id, printf('%x', parent.ip) AS parent_ip,
		parent.symbol_id AS parent_symbol_id, caller.name AS parent_symbol
	FROM call_paths AS path JOIN call_paths AS parent ON parent.id = path.parent_id
		JOIN symbols AS called ON called.id = path.symbol_id
		JOIN symbols AS caller ON caller.id = parent.symbol_id;
CREATE VIEW calls_view AS
	SELECT calls.id, thread_id, pid, tid, comm AS command, call_path_id,
		printf('%x', ip) AS ip, symbol_id, name AS symbol, call_time, return_time,
		return_time - call_time AS elapsed_time, branch_count, insn_count, call_id, return_id,
		CASE calls.flags WHEN 0 THEN '' WHEN 1 THEN 'no call' WHEN 2 THEN 'no return'
			WHEN 3 THEN 'no call/return' WHEN 6 THEN 'jump' ELSE calls.flags END AS flags,
		parent_call_path_id, calls.parent_id
	FROM calls JOIN call_paths ON call_paths.id = call_path_id
		JOIN symbols ON symbols.id = symbol_id JOIN threads ON threads.id = thread_id
		JOIN comms ON comms.id = comm_id;
CREATE VIEW samples_view AS
	SELECT samples.id, time, cpu, pid, tid, comm AS command, events.name AS event,
		printf('%x', ip) AS ip_hex, from_symbol.name AS symbol, sym_offset,
		from_dso.short_name AS dso_short_name, printf('%x', to_ip) AS to_ip_hex,
		to_symbol.name AS to_symbol, to_sym_offset, to_dso.short_name AS to_dso_short_name,
		types.name AS branch_type_name, insn_count
	FROM samples JOIN threads ON threads.id = thread_id JOIN comms ON comms.id = comm_id
		JOIN selected_events AS events ON events.id = evsel_id
		JOIN symbols AS from_symbol ON from_symbol.id = symbol_id
		JOIN symbols AS to_symbol ON to_symbol.id = to_symbol_id
		JOIN dsos AS from_dso ON from_dso.id = samples.dso_id
		JOIN dsos AS to_dso ON to_dso.id = to_dso_id
		LEFT JOIN branch_types AS types ON types.id = branch_type;
CREATE VIEW context_switches_view AS
	SELECT switches.id, time, cpu, gone.pid AS pid_out, gone.tid AS tid_out,
		gone_comm.comm AS comm_out, come.pid AS pid_in, come.tid AS tid_in,
		come_comm.comm AS comm_in
	FROM context_switches AS switches JOIN threads AS gone ON gone.id = thread_out_id
		JOIN threads AS come ON come.id = thread_in_id
		JOIN comms AS gone_comm ON gone_comm.id = comm_out_id
		JOIN comms AS come_comm ON come_comm.id = comm_in_id;
