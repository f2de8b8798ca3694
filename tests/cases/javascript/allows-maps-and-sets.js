const counts = new Map();
for (const w of 'a b a'.split(' ')) counts.set(w, (counts.get(w) || 0) + 1);
console.log([...counts.entries()].sort(([, a], [, b]) => b - a), new Set([1, 1]).size, [...counts.keys()], Object.fromEntries(counts));
