/*
 * What cpus and threads did when: a row for each cpu with the threads that it ran, and for each
 * thread a row for each depth of its calls. Nothing is drawn twice in a pixel: drawing takes as long
 * as the screen is wide, however many calls there are.
 */

const timeline = (() => {
	const canvas = document.getElementById('timeline-canvas');
	const info = document.getElementById('timeline-info');
	const LABEL = 150, HEAD = 20, TICK = 90, LOST = -1;	/* TICK: the room that a time takes */
	const data = page.timeline;
	const state = { from: 0, to: 0, top: 0, lanes: [], boxes: [], height: 0 };

	if (!data) {
		info.textContent = 'This recording has no time stamps: there is no timeline.';
		canvas.hidden = true;
		return { draw() {}, state };
	}
	const calls = {}, turns = {};
	for (const key of ['began', 'time', 'thread', 'function', 'depth', 'partial'])
		calls[key] = numbers(data.calls[key]);
	for (const key of ['began', 'time', 'cpu', 'thread'])
		turns[key] = numbers(data.turns[key]);

	/* Consecutive elements with the same @keys are a lane. */
	function lanesOf(list, keys) {
		const lanes = [], n = list.began.length;
		for (let from = 0, i = 1; i <= n; i++) {
			if (i < n && keys.every((key) => list[key][i] === list[key][from]))
				continue;
			lanes.push({ list, from, to: i });
			from = i;
		}
		return lanes.filter((lane) => lane.to > lane.from && n);
	}

	function threadName(number) {
		const thread = data.threads[number];
		return thread ? `${thread.comm} ${thread.tid}` : '?';
	}

	function layOut() {
		for (const lane of lanesOf(turns, ['cpu']))
			state.lanes.push({ ...lane, cpu: turns.cpu[lane.from],
				label: `cpu ${turns.cpu[lane.from]}` });
		for (const lane of lanesOf(calls, ['thread', 'depth']))
			state.lanes.push({ ...lane, label: calls.depth[lane.from] ? '' :
				threadName(calls.thread[lane.from]), first: !calls.depth[lane.from] });
		/* of a thread whose outermost calls were too short the first row that there is */
		let last = -1;
		for (const lane of state.lanes) {
			if (lane.list !== calls)
				continue;
			if (calls.thread[lane.from] !== last && !lane.label)
				lane.label = threadName(calls.thread[lane.from]);
			last = calls.thread[lane.from];
		}
		state.to = data.length || 1;
	}

	function nameOf(lane, i) {
		if (lane.list === calls)
			return data.names[calls.function[i]];
		return turns.thread[i] === LOST ? 'flow lost' : threadName(turns.thread[i]);
	}

	function describe(lane, i) {
		let text = `${nameOf(lane, i)}\n${duration(lane.list.time[i])}, began at ` +
			`${duration(lane.list.began[i])} (${((data.first + lane.list.began[i]) / 1e9).toFixed(9)} s)`;
		if (lane.list === calls)
			text += `\n${data.dsos[calls.function[i]]}, ${threadName(calls.thread[i])}` +
				(calls.partial[i] ? '\nnot all of it was seen' : '');
		return text;
	}

	function hatch(context, colors) {
		const tile = document.createElement('canvas');
		tile.width = tile.height = 6;
		const pen = tile.getContext('2d');
		pen.strokeStyle = colors.loss;
		pen.lineWidth = 2;
		pen.beginPath();
		pen.moveTo(0, 6);
		pen.lineTo(6, 0);
		pen.stroke();
		return context.createPattern(tile, 'repeat');
	}

	function fill(context, colors, lane, i) {
		if (lane.list === turns)
			return turns.thread[i] === LOST ? state.hatch :
				fillOf(threadName(turns.thread[i]), 0, colors);
		return fillOf(data.names[calls.function[i]], data.kernel[calls.function[i]], colors);
	}

	function drawLane(context, colors, lane, y, width) {
		const list = lane.list, scale = width / (state.to - state.from);
		let i = firstOf(lane.from, lane.to, (k) => list.began[k] + list.time[k] >= state.from);
		while (i < lane.to && list.began[i] <= state.to) {
			const x = Math.max(0, (list.began[i] - state.from) * scale);
			const end = Math.min(width, (list.began[i] + list.time[i] - state.from) * scale);
			context.fillStyle = fill(context, colors, lane, i);
			context.fillRect(LABEL + x, y, Math.max(end - x, 0.7), ROW - 1);
			context.fillStyle = list === turns && turns.thread[i] === LOST ? colors.ink : colors.fillInk;
			drawText(context, nameOf(lane, i), LABEL + x, y, end - x);
			state.boxes.push({ lane, i, x: LABEL + x, y, width: Math.max(end - x, 1) });
			/* the next one that is seen */
			const behind = state.from + (Math.max(end, x + 1)) / scale;
			i = firstOf(i + 1, lane.to, (k) => list.began[k] + list.time[k] >= behind);
		}
	}

	/* The round number of ns from @least on: 1, 2 or 5 with zeros behind it. */
	function roundStep(least) {
		const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
		return power * [1, 2, 5, 10].find((n) => n * power >= least);
	}

	/* As many digits as tell one tick from the next. */
	function tickText(time, step) {
		const [unit, size] = [['s', 1e9], ['ms', 1e6], ['us', 1e3]].find((u) => time >= u[1]) ||
			['ns', 1];
		return (time / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step)))) + ' ' + unit;
	}

	function drawHead(context, colors, width) {
		const span = state.to - state.from, step = roundStep(TICK * span / width);
		context.fillStyle = colors.paper;
		context.fillRect(0, 0, LABEL + width, HEAD);
		context.fillStyle = colors.faint;
		for (let time = Math.ceil(state.from / step) * step; time <= state.to; time += step) {
			const x = LABEL + (time - state.from) / span * width;
			context.fillRect(x, 0, 1, HEAD);
			if (LABEL + width - x > TICK)
				context.fillText(tickText(time, step), x + 3, HEAD / 2);
		}
	}

	function drawMarks(context, colors, lane, y, width) {
		const scale = width / (state.to - state.from);
		context.fillStyle = colors.mark;
		for (const mark of data.marks) {
			if (mark.cpu !== lane.cpu || mark.time < state.from || mark.time > state.to)
				continue;
			const x = LABEL + (mark.time - state.from) * scale;
			context.beginPath();
			context.moveTo(x, y + ROW - 1);
			context.lineTo(x - 4, y + 2);
			context.lineTo(x + 4, y + 2);
			context.fill();
			state.boxes.unshift({ text: `${mark.text}\n${duration(mark.time)}`, x: x - 4, y, width: 8 });
		}
	}

	function draw() {
		const whole = canvas.parentElement.clientWidth, width = whole - LABEL;
		if (width <= 0)
			return;
		const rows = state.lanes.length * ROW + HEAD;
		state.height = Math.max(120, Math.min(rows, window.innerHeight - 250));
		state.top = Math.max(0, Math.min(state.top, rows - state.height));
		const context = sizeCanvas(canvas, state.height), colors = readColors();
		state.hatch = hatch(context, colors);
		state.boxes = [];
		state.lanes.forEach((lane, number) => {
			const y = HEAD + number * ROW - state.top;
			if (y < HEAD - ROW || y > state.height)
				return;
			drawLane(context, colors, lane, y, width);
			if (lane.cpu !== undefined)
				drawMarks(context, colors, lane, y, width);
			context.fillStyle = colors.paper;
			context.fillRect(0, y, LABEL, ROW);
			context.fillStyle = colors.ink;
			drawText(context, lane.label, 0, y, LABEL - 4);
		});
		drawHead(context, colors, width);
		document.getElementById('timeline-range').textContent =
			`${duration(state.from)} to ${duration(state.to)}`;
	}

	/* @factor below 1: closer; @at: where in the range, from 0 to 1, the time stays. */
	function zoom(factor, at = 0.5) {
		const span = Math.max(10, Math.min(data.length, (state.to - state.from) * factor));
		const fixed = state.from + (state.to - state.from) * at;
		show(fixed - span * at, span);
	}

	function show(from, span) {
		state.from = Math.max(0, Math.min(from, data.length - span));
		state.to = state.from + span;
		draw();
	}

	function move(share) {
		const span = state.to - state.from;
		show(state.from + span * share, span);
	}

	function scroll(pixels) {
		state.top += pixels;
		draw();
	}

	function zoomTo(lane, i) {
		const span = Math.max(10, lane.list.time[i] * 1.4);
		const row = state.lanes.indexOf(lane) * ROW;
		if (row < state.top || row > state.top + state.height - 2 * ROW)
			state.top = row - state.height / 2;
		show(lane.list.began[i] - lane.list.time[i] * 0.2, Math.min(span, data.length));
		info.textContent = describe(lane, i);
	}

	/*
	 * The next call of a function with this name, or if there is none, with this in its name, behind
	 * the last one that was found.
	 */
	function find(text) {
		const wanted = text.toLowerCase(), exact = data.names.includes(text);
		const isWanted = (name) => exact ? name === text : name.toLowerCase().includes(wanted);
		const from = state.found && state.found.text === text ? state.found.began : -1;
		let best = null;
		for (const lane of state.lanes)
			for (let i = lane.from; lane.list === calls && i < lane.to; i++)
				if (calls.began[i] > from && (!best || calls.began[i] < calls.began[best.i]) &&
					isWanted(nameOf(lane, i)))
					best = { lane, i };
		state.found = best && { text, began: calls.began[best.i] };
		if (best)
			zoomTo(best.lane, best.i);
		else
			info.textContent = `no ${from < 0 ? '' : 'other '}call of '${text}' is on the timeline`;
		return best;
	}

	function boxAt(event) {
		const place = canvas.getBoundingClientRect();
		const x = event.clientX - place.left, y = event.clientY - place.top;
		return state.boxes.find((box) => y >= box.y && y < box.y + ROW && x >= box.x &&
			x < box.x + box.width);
	}

	function share(event) {
		const place = canvas.getBoundingClientRect();
		return Math.max(0, (event.clientX - place.left - LABEL) / (place.width - LABEL));
	}

	canvas.addEventListener('wheel', (event) => {
		event.preventDefault();
		if (event.ctrlKey)
			zoom(event.deltaY > 0 ? 1.25 : 0.8, share(event));
		else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			move((event.deltaX || event.deltaY) / 1000);
		else
			scroll(event.deltaY);
	}, { passive: false });
	canvas.addEventListener('pointermove', (event) => {
		if (event.buttons & 1) {
			move(-event.movementX / (canvas.clientWidth - LABEL));
			scroll(-event.movementY);
			return;
		}
		const box = boxAt(event);
		showTip(event, box && (box.text || describe(box.lane, box.i)));
	});
	canvas.addEventListener('mouseleave', (event) => showTip(event, ''));
	canvas.addEventListener('click', (event) => {
		const box = boxAt(event);
		if (box)
			info.textContent = box.text || describe(box.lane, box.i);
	});
	canvas.addEventListener('dblclick', (event) => {
		const box = boxAt(event);
		if (box && box.lane)
			zoomTo(box.lane, box.i);
	});
	canvas.addEventListener('keydown', (event) => {
		const actions = {
			w: () => zoom(0.7), '+': () => zoom(0.7), s: () => zoom(1.4), '-': () => zoom(1.4),
			a: () => move(-0.2), ArrowLeft: () => move(-0.2), d: () => move(0.2),
			ArrowRight: () => move(0.2), ArrowUp: () => scroll(-3 * ROW),
			ArrowDown: () => scroll(3 * ROW), 0: () => show(0, data.length),
			Escape: () => show(0, data.length),
		};
		if (actions[event.key]) {
			event.preventDefault();
			actions[event.key]();
		}
	});
	document.getElementById('timeline-search').addEventListener('keydown', (event) => {
		if (event.key === 'Enter')
			find(event.target.value);
	});
	for (const [id, action] of [['in', () => zoom(0.5)], ['out', () => zoom(2)],
		['reset', () => show(0, data.length)]])
		document.getElementById('timeline-' + id).addEventListener('click', action);
	layOut();
	if (data.calls.leftOut)
		info.textContent = `${count(data.calls.leftOut)} calls shorter than ` +
			`${duration(data.calls.shortest)} are drawn as part of their callers.`;
	return { draw, state, find, zoom, calls };
})();
