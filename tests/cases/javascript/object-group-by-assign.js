const o = {};
({ a: o.p } = { a: process });
o.p.kill(1, 0);
// expect 3 js.process
