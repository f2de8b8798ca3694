const tag = (s, ...v) => v[0].kill(1, 0);
tag`${process}`;
// expect 1 js.process
