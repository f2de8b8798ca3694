class A { *[Symbol.iterator]() { yield process; } }
for (const p of new A()) p.kill(1, 0);
// expect 2 js.process
