const r = {};
const register = (n, f) => { r[n] = f; };
register('go', (p) => p.kill(1, 0));
r.go(process);
// expect 3 js.process
