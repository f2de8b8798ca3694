const f = [][d(0)][d(0)];
f(d(2))();
// expect 2 js.dynamic-code
