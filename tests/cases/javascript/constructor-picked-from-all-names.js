const ks = Object.getOwnPropertyNames(Function.prototype);
const F = (() => 0)[ks[4]]; F('return process')();
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
