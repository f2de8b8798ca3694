String.prototype.trim = function () { return 'kill'; }; process['cwd'.trim()](1, 0);
// expect 1 js.process
// known-miss: a method of String.prototype that is replaced is folded as it was
