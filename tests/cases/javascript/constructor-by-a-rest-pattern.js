const g = (...[f, k]) => f[k];
g(() => 0, 'constructor')('return process')();
// expect 2 js.dynamic-code
