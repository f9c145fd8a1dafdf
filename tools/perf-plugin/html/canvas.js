/* What canvases share. */

const ROW = 18;

/* Makes the canvas as wide as its place, sharp on any screen. Returns its context. */
function sizeCanvas(canvas, height) {
	const ratio = window.devicePixelRatio || 1;
	const width = canvas.parentElement.clientWidth;

	canvas.style.height = height + 'px';
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const context = canvas.getContext('2d');
	context.scale(ratio, ratio);
	context.font = '12px system-ui, sans-serif';
	context.textBaseline = 'middle';
	return context;
}

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

/* A function's own: warm for programs, cold for the kernel. */
function fillOf(name, kernel, colors) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) | 0;
	const hue = (kernel ? colors.kernel : colors.user) + (hash & 31) - 16;
	return `hsl(${hue} 70% ${colors.light})`;
}

function readColors() {
	return { user: +color('user'), kernel: +color('kernel'), light: color('fill-light'),
		ink: color('ink'), fillInk: color('fill-ink'), paper: color('paper'),
		line: color('line'), faint: color('faint'), loss: color('loss'), mark: color('mark'),
		accent: color('accent') };
}

/* Text in a box, cut to its width. */
function drawText(context, text, x, y, width) {
	if (width < 20)
		return;
	const room = Math.floor((width - 4) / 6.9);
	context.fillText(text.length > room ? text.slice(0, Math.max(1, room - 1)) + '\u2026' : text,
		x + 3, y + ROW / 2);
}

const tip = document.getElementById('tip');

function showTip(event, text) {
	tip.hidden = !text;
	if (!text)
		return;
	tip.textContent = text;
	tip.style.left = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 4) + 'px';
	tip.style.top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 4) + 'px';
}
