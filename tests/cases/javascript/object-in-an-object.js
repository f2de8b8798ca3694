const o = { a: { b: { c: process } } };
o.a.b.c.kill(1, 0);
// expect 2 js.process
