(function () { const a = arguments; (() => a[0].kill(1, 0))(); })(process);
// expect 1 js.process
