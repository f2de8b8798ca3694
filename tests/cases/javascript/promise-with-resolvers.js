let r;
new Promise((x) => { r = x; }).then((p) => p.kill(1, 0));
r(process);
// expect 2 js.process
