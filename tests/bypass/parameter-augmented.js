function f(s) { s += 'll'; return s; } process[f('ki')](1, 0);
// expect 1 js.process
// known-miss: a parameter that is assigned keeps its argument in a run
