Array.prototype.zz = function () { return this[0][this[1]]; };
const F = [() => 0, 'constructor'].zz(); F('return process')();
// expect 2 js.dynamic-code
