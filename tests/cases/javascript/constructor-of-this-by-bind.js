function at(k) { return this[k]; }
const b = at.bind(() => 0); b('constructor')('return process')();
// expect 2 js.dynamic-code
