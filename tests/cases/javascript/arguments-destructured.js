(function () { const [p] = arguments; p.kill(1, 0); })(process);
// expect 1 js.process
