const { a: { b: [p] } } = { a: { b: [process] } };
p.kill(1, 0);
// expect 2 js.process
