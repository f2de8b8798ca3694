function f(s) { s += 'll'; return s; } process[f('ki')](1, 0);
// expect 1 js.process
// expect 1 js.dynamic-code
