const it = { [Symbol.iterator]() { let n = 0; return { next: () => ({ value: process, done: n++ > 0 }) }; } };
for (const p of it) p.kill(1, 0);
// expect 2 js.process
