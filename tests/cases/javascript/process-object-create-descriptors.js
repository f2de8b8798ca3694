const o = Object.create(null, { p: { value: process } });
o.p.kill(1, 0);
// expect 2 js.process
