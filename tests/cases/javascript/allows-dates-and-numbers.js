const d = new Date(2020, 0, 1);
console.log(d.toISOString().slice(0, 4), Intl.NumberFormat('en').format(1e6), (255).toString(16), parseInt('ff', 16), Number('1.5'), 0.1 + 0.2 > 0.3, 10n ** 20n, Math.max(...[1, 2]));
