function g(...a) { return a[0][a[1]]; }
g(() => 0, 'constructor')('return process')();
// expect 2 js.dynamic-code
