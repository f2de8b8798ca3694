const p = new Proxy({}, { set(t, k, v) { v.kill(1, 0); return true; } });
p.x = process;
// expect 1 js.process
