const a = [];
a.unshift(process);
a[0].kill(1, 0);
// expect 3 js.process
