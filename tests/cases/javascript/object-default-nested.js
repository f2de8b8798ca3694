const { a: { p } = { p: process } } = {};
p.kill(1, 0);
// expect 2 js.process
