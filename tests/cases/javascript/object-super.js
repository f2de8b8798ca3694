const a = { p() { return process; } };
const b = { __proto__: a, p() { return super.p(); } };
b.p().kill(1, 0);
// expect 3 js.process
