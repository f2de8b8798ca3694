function* g() { yield process; }
for (const p of g()) p.kill(1, 0);
// expect 2 js.process
