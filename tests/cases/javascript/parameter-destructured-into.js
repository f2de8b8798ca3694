function f(s) { [s] = ['kill']; return s; } process[f('cwd')](1, 0);
// expect 1 js.process
// expect 1 js.dynamic-code
