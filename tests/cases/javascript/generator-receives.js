function* g() { (yield).kill(1, 0); }
const it = g();
it.next();
it.next(process);
// expect 1 js.process
