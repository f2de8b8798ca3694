String.prototype.trim = function () { return 'kill'; }; process['cwd'.trim()](1, 0);
// expect 1 js.dynamic-code
// expect 1 js.process
