const f = (k) => k(process);
f((p) => p.kill(1, 0));
// expect 2 js.process
