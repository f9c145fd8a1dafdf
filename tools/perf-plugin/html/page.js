/* The page: losses first, then one view at a time. */

const views = (() => {
	const tabs = [...document.querySelectorAll('[role=tab]')];
	const losses = document.getElementById('losses');

	function open(tab, focus) {
		for (const other of tabs) {
			other.setAttribute('aria-selected', other === tab);
			other.tabIndex = other === tab ? 0 : -1;
			document.getElementById(other.getAttribute('aria-controls')).hidden = other !== tab;
		}
		if (focus)
			tab.focus();
		draw();
	}

	function draw() {
		flame.draw();
		timeline.draw();
	}

	tabs.forEach((tab, i) => {
		tab.addEventListener('click', () => open(tab));
		tab.addEventListener('keydown', (event) => {
			const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			if (step)
				open(tabs[(i + step + tabs.length) % tabs.length], true);
		});
	});
	document.addEventListener('keydown', (event) => {
		const search = document.querySelector('section:not([hidden]) input[type=search]');
		if (event.key === '/' && search && event.target.tagName !== 'INPUT') {
			event.preventDefault();
			search.focus();
		}
	});
	window.addEventListener('resize', draw);
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
	document.getElementById('input').textContent = page.input;
	document.title = `rvtrace: ${page.input}`;
	losses.textContent = page.losses.lost ? page.losses.text :
		`${count(page.insns)} instructions: ${page.losses.text}`;
	losses.classList.toggle('lost', page.losses.lost);
	flame.build();
	open(tabs[0]);
	return { open, tabs };
})();
