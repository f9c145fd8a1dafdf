/* Functions, code and latency. */

const tables = (() => {
	const MOST = 500;	/* rows that are shown */

	function cell(tag, text, row, className) {
		const element = document.createElement(tag);
		element.textContent = text;
		if (className)
			element.className = className;
		row.append(element);
		return element;
	}

	/*
	 * A table that sorts by the column whose head is pressed. @columns: { title, value, text };
	 * @chosen, unless it is missing, gets the object of a row that is clicked.
	 */
	function makeTable(place, objects, columns, search, chosen) {
		/* the first numbers, the greatest on top */
		const state = { by: columns.findIndex((column) => column.text), down: true };

		function rows() {
			const wanted = search.value.toLowerCase(), column = columns[state.by];
			const sign = state.down ? -1 : 1;
			const compare = (a, b) => {
				const x = column.value(a), y = column.value(b);
				return sign * (x < y ? -1 : x > y ? 1 : 0);
			};
			return objects.filter((o) => !wanted || (o.sym + o.dso).toLowerCase().includes(wanted))
				.sort(compare).slice(0, MOST);
		}

		function fill() {
			const table = document.createElement('table');
			const head = table.createTHead().insertRow(), body = table.createTBody();
			columns.forEach((column, i) => {
				const button = document.createElement('button');
				button.textContent = column.title;
				button.addEventListener('click', () => {
					state.down = state.by === i ? !state.down : column.text !== undefined;
					state.by = i;
					fill();
				});
				const th = cell('th', '', head, column.left ? 'left' : '');
				th.setAttribute('aria-sort', state.by !== i ? 'none' :
					state.down ? 'descending' : 'ascending');
				th.append(button);
			});
			for (const object of rows()) {
				const row = body.insertRow();
				for (const column of columns)
					cell('td', column.text ? column.text(column.value(object), object) :
						column.value(object), row, column.left ? 'left' : '');
				if (!chosen)
					continue;
				row.tabIndex = 0;
				row.addEventListener('click', () => chosen(object));
				row.addEventListener('keydown', (event) => event.key === 'Enter' && chosen(object));
			}
			place.replaceChildren(table);
		}

		search.addEventListener('input', fill);
		fill();
	}

	function functions() {
		const all = page.rows.reduce((sum, row) => sum + row.insns, 0);
		makeTable(document.getElementById('functions-table'), page.rows, [
			{ title: 'Instructions', value: (r) => r.insns, text: count },
			{ title: 'Share', value: (r) => r.insns, text: (n) => percent(n, all) },
			{ title: 'Branches', value: (r) => r.branches, text: count },
			{ title: 'Entered', value: (r) => r.entered, text: count },
			{ title: 'Command', value: (r) => r.comm, left: true },
			{ title: 'File', value: (r) => r.dso.split('/').pop(), left: true },
			{ title: 'Function', value: (r) => (r.kernel ? '[k] ' : '') + r.sym },
		], document.getElementById('functions-search'));
	}

	/* ---- code ---- */

	function showCode(number) {
		const f = page.code[number], table = document.createElement('table');
		const head = table.createTHead().insertRow(), body = table.createTBody();
		const titles = ['Share', 'Count', 'Taken', 'Time', 'Address', 'Code'];
		let source = '';

		if (!f)
			return;
		document.getElementById('code-info').textContent = `${f.sym} (${f.dso}): ` +
			`${count(f.insns)} instructions, entered ${count(f.entered)} times` +
			(page.timed ? `, ${duration(f.time)}` : '');
		titles.forEach((title) => page.timed || title !== 'Time' ? cell('th', title, head) : 0);
		for (const insn of f.code) {
			const where = insn.file && `${insn.file.split('/').pop()}:${insn.line}  ${insn.source || ''}`;
			if (where && where !== source) {
				const line = body.insertRow();
				line.className = 'source';
				const td = cell('td', where, line);
				td.colSpan = page.timed ? 6 : 5;
				source = where;
			}
			const row = body.insertRow(), share = 100 * insn.count / (f.insns || 1);
			row.className = insn.count ? '' : 'never';
			cell('td', insn.count ? share.toFixed(2) + '%' : '', row, share >= 5 ? 'hot' : '');
			cell('td', insn.count ? count(insn.count) : 'not run', row);
			cell('td', insn.taken, row);
			if (page.timed)
				cell('td', insn.count ? duration(insn.time) : '', row);
			cell('td', insn.addr, row);
			cell('td', insn.text || '', row);
		}
		document.getElementById('code-table').replaceChildren(table);
	}

	function code() {
		const select = document.getElementById('code-function');
		page.code.forEach((f, i) => select.add(new Option(`${f.sym} (${f.dso})`, i)));
		select.addEventListener('change', () => showCode(+select.value));
		showCode(0);
	}

	/* ---- latency ---- */

	const measure = page.timed ? duration : count;

	function showBars(f) {
		const table = document.createElement('table'), body = table.createTBody();
		const caption = table.createCaption();
		let most = 0;

		caption.textContent = `${f.sym}: how many calls took ${page.timed ? 'how long' : 'how many instructions'}`;
		for (let i = 1; i < f.bars.length; i += 2)
			most = Math.max(most, f.bars[i]);
		for (let i = 0; i < f.bars.length; i += 2) {
			const row = body.insertRow();
			cell('td', measure(f.bars[i]) + ' or more', row);
			cell('td', count(f.bars[i + 1]), row);
			const bar = document.createElement('div');
			bar.className = 'bar';
			bar.style.width = 40 * f.bars[i + 1] / most + 'vw';
			cell('td', '', row).append(bar);
		}
		document.getElementById('latency-bars').replaceChildren(table);
	}

	function latency() {
		document.getElementById('latency-note').textContent = (page.timed ? '' :
			'This recording has no time stamps: calls are measured in instructions. ') +
			'Tail: what calls took beyond the median, all of them together. Choose a function for its histogram.';
		makeTable(document.getElementById('latency-table'), page.latency, [
			{ title: 'Function', value: (f) => `${f.sym} (${f.dso})`, left: true },
			{ title: 'Tail', value: (f) => f.tail, text: measure },
			{ title: 'Calls', value: (f) => f.calls, text: count },
			{ title: 'p50', value: (f) => f.p50, text: measure },
			{ title: 'p90', value: (f) => f.p90, text: measure },
			{ title: 'p99', value: (f) => f.p99, text: measure },
			{ title: 'p99.9', value: (f) => f.p999, text: measure },
			{ title: 'Max', value: (f) => f.max, text: measure },
		], document.getElementById('latency-search'), showBars);
	}

	functions();
	code();
	latency();
	return { showCode, showBars };
})();
