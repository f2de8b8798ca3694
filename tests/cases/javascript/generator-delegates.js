function* a() { yield process; }
function* g() { yield* a(); }
const [p] = g();
p.kill(1, 0);
// expect 4 js.process
