function f(s) { [s] = ['kill']; return s; } process[f('cwd')](1, 0);
// expect 1 js.process
// known-miss: a parameter that is assigned keeps its argument in a run
