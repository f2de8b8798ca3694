async function* g() { yield process; }
for await (const p of g()) p.kill(1, 0);
// expect 2 js.process
