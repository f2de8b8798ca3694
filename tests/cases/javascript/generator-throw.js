function* g() { try { yield; } catch (p) { p.kill(1, 0); } }
const i = g();
i.next();
i.throw(process);
// expect 1 js.process
