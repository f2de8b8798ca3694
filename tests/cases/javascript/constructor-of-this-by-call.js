function at(k) { return this[k]; }
at.call(() => 0, 'constructor')('return process')();
// expect 2 js.dynamic-code
