const o = Object.assign({}, { p: process });
o.p.kill(1, 0);
// expect 2 js.process
