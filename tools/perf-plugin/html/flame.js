/* Who executed what, called by whom: each box is as wide as what it and all that it called took. */

const flame = (() => {
	const canvas = document.getElementById('flame-canvas');
	const info = document.getElementById('flame-info');
	const matched = document.getElementById('flame-matched');
	const NARROWEST = 0.5;	/* pixels of a box that is drawn */
	const state = { layout: 'icicle', measure: 'insns', threads: false, search: '', root: null,
		zoomed: null, selected: null, boxes: [] };

	function newNode(name, kernel, parent) {
		return { name, kernel, parent, self: 0, total: 0, before: 0, children: new Map() };
	}

	function childOf(parent, name, kernel) {
		const key = (kernel ? 'k' : 'u') + name;
		let child = parent.children.get(key);
		if (!child) {
			child = newNode(name, kernel, parent);
			parent.children.set(key, child);
		}
		return child;
	}

	/* Adds one recording's contexts below @root: @what is 'self' or 'before'. */
	function addTree(root, tree, measure, what) {
		const parent = numbers(tree.parent), kernel = numbers(tree.kernel), name = numbers(tree.name);
		const values = numbers(tree[measure]), nodes = [];

		for (let i = 0; i < parent.length; i++) {
			const above = parent[i] < 0 ? root : nodes[parent[i]];
			nodes.push(parent[i] < 0 && !state.threads ? root :
				childOf(above, tree.names[name[i]], kernel[i]));
			nodes[i][what] += values[i];
		}
	}

	/* Each function, and below it those that called it. */
	function invert(root) {
		const inverted = newNode('all', 0, null);
		const add = (node) => {
			let at = inverted;
			for (let up = node; up.parent && (node.self || node.before); up = up.parent)
				at = childOf(at, up.name, up.kernel);
			at.self += node.self;
			at.before += node.before;
			node.children.forEach(add);
		};
		add(root);
		return inverted;
	}

	function addUp(node) {
		node.total = node.self;
		for (const child of node.children.values()) {
			addUp(child);
			node.total += child.total;
			node.before += child.before;
		}
		node.sorted = [...node.children.values()].sort((a, b) =>
			b.total - a.total || (a.name < b.name ? -1 : 1));
	}

	function build() {
		const difference = state.measure === 'difference';
		let root = newNode('all', 0, null);
		addTree(root, page.tree, difference ? 'insns' : state.measure, 'self');
		if (difference)
			addTree(root, page.before, 'insns', 'before');
		if (state.layout === 'callers')
			root = invert(root);
		addUp(root);
		state.root = state.zoomed = root;
		state.selected = null;
		draw();
	}

	function value(n) {
		return state.measure === 'time' ? duration(n) : count(n);
	}

	function describe(node) {
		let text = `${node.name}\n${value(node.total)}, ${percent(node.total, state.root.total)} of all; ` +
			`itself ${value(node.self)}`;
		if (state.measure === 'difference')
			text += `\nbefore ${value(node.before)}: ${node.total >= node.before ? '+' : ''}` +
				value(node.total - node.before);
		return text;
	}

	/* Red: more than before; blue: less. */
	function differenceFill(node, colors) {
		const change = node.total - node.before;
		const share = Math.min(1, Math.abs(change) / (Math.max(node.total, node.before) || 1));
		if (!change)
			return `hsl(0 0% ${colors.light})`;
		return `hsl(${change > 0 ? 8 : 215} ${25 + 65 * share}% ${colors.light})`;
	}

	function isMatch(node) {
		return state.search && node.name.toLowerCase().includes(state.search);
	}

	function depthOf(node, width, whole) {
		let deepest = 0;
		for (const child of node.sorted)
			if (child.total / whole * width >= NARROWEST)
				deepest = Math.max(deepest, 1 + depthOf(child, width, whole));
		return deepest;
	}

	function drawNode(context, colors, node, x, width, level, whole, height) {
		const y = state.layout === 'flame' ? height - (level + 1) * ROW : level * ROW;
		context.fillStyle = isMatch(node) ? colors.accent :
			state.measure === 'difference' ? differenceFill(node, colors) :
			fillOf(node.name, node.kernel, colors);
		context.fillRect(x, y, Math.max(width - 0.5, 0.5), ROW - 1);
		if (node === state.selected) {
			context.strokeStyle = colors.ink;
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 0.5), ROW - 3);
		}
		context.fillStyle = isMatch(node) ? colors.paper : colors.fillInk;
		drawText(context, node.name, x, y, width);
		state.boxes.push({ node, x, y, width });
		const room = width / (node.total || 1);
		for (const child of node.sorted) {
			const part = child.total * room;
			if (part < NARROWEST)
				break;
			drawNode(context, colors, child, x, part, level + 1, whole, height);
			x += part;
		}
	}

	/* The share of all that is in or below functions that match. */
	function matchedShare() {
		let sum = 0;
		const add = (node) => {
			if (isMatch(node))
				sum += node.total;
			else
				node.children.forEach(add);
		};
		add(state.root);
		return sum;
	}

	function draw() {
		if (!canvas.parentElement.clientWidth)
			return;
		const width = canvas.parentElement.clientWidth, zoomed = state.zoomed;
		const above = [];
		for (let up = zoomed.parent; up; up = up.parent)
			above.unshift(up);
		const height = (above.length + 1 + depthOf(zoomed, width, zoomed.total || 1)) * ROW;
		const context = sizeCanvas(canvas, height), colors = readColors();
		state.boxes = [];
		above.forEach((node, level) => {
			const y = state.layout === 'flame' ? height - (level + 1) * ROW : level * ROW;
			context.fillStyle = colors.line;
			context.fillRect(0, y, width, ROW - 1);
			context.fillStyle = colors.ink;
			drawText(context, node.name, 0, y, width);
			state.boxes.push({ node, x: 0, y, width });
		});
		drawNode(context, colors, zoomed, 0, width, above.length, zoomed.total, height);
		matched.textContent = state.search ?
			`matched: ${percent(matchedShare(), state.root.total)}` : '';
		info.textContent = describe(state.selected || zoomed);
	}

	function boxAt(event) {
		const place = canvas.getBoundingClientRect();
		const x = event.clientX - place.left, y = event.clientY - place.top;
		return state.boxes.find((box) => y >= box.y && y < box.y + ROW && x >= box.x &&
			x < box.x + Math.max(box.width, 1));
	}

	function zoom(node) {
		state.zoomed = state.selected = node;
		draw();
	}

	function select(node) {
		if (node)
			state.selected = node;
		draw();
	}

	function sibling(node, step) {
		const all = node.parent ? node.parent.sorted : [node];
		return all[all.indexOf(node) + step];
	}

	function onKey(event) {
		const node = state.selected || state.zoomed, up = state.layout === 'flame';
		const actions = {
			ArrowUp: () => select(up ? node.sorted[0] : node.parent),
			ArrowDown: () => select(up ? node.parent : node.sorted[0]),
			ArrowLeft: () => select(sibling(node, -1)),
			ArrowRight: () => select(sibling(node, 1)),
			Enter: () => zoom(node),
			Escape: () => zoom(state.zoomed.parent || state.root),
		};
		if (actions[event.key]) {
			event.preventDefault();
			actions[event.key]();
		}
	}

	canvas.addEventListener('mousemove', (event) => {
		const box = boxAt(event);
		showTip(event, box && describe(box.node));
	});
	canvas.addEventListener('mouseleave', (event) => showTip(event, ''));
	canvas.addEventListener('click', (event) => {
		const box = boxAt(event);
		if (box)
			zoom(box.node);
	});
	canvas.addEventListener('keydown', onKey);
	for (const [id, key, read] of [['layout', 'layout', 'value'], ['measure', 'measure', 'value'],
		['threads', 'threads', 'checked']])
		document.getElementById('flame-' + id).addEventListener('change', (event) => {
			state[key] = event.target[read];
			build();
			canvas.scrollIntoView({ block: state.layout === 'flame' ? 'end' : 'nearest' });
		});
	document.getElementById('flame-search').addEventListener('input', (event) => {
		state.search = event.target.value.toLowerCase();
		draw();
	});
	document.getElementById('flame-reset').addEventListener('click', () => zoom(state.root));
	for (const option of [...document.getElementById('flame-measure').options])
		if ((option.value === 'difference' && !page.before) || (option.value === 'time' && !page.timed))
			option.remove();
	return { build, draw, state };
})();
