/* The page's data, and how numbers are written. */

const page = JSON.parse(document.getElementById('data').textContent);

function numbers(column) {
	const bytes = Uint8Array.from(atob(column.data), (c) => c.charCodeAt(0));
	return new ({ Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array })[column.type](
		bytes.buffer);
}

function count(n) {
	return Math.round(n).toLocaleString('en-US');
}

function duration(ns) {
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]])
		if (Math.abs(ns) >= size)
			return (ns / size).toFixed(3) + ' ' + unit;
	return Math.round(ns) + ' ns';
}

function percent(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + '%';
}

/* The first element of @array in [from, to) that @is true of; they come behind all others. */
function firstOf(from, to, is) {
	while (from < to) {
		const middle = (from + to) >> 1;
		if (is(middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}
