const o = { p: process, go() { return this.p; } };
const g = o.go.bind(o);
g().kill(1, 0);
// expect 3 js.process
