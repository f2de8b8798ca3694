function at() { return arguments[0][arguments[1]]; }
at(() => 0, 'constructor')('return process')();
// expect 2 js.dynamic-code
