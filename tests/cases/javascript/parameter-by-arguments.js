function f(s) { arguments[0] = 'kill'; return s; } process[f('cwd')](1, 0);
// expect 1 js.dynamic-code
