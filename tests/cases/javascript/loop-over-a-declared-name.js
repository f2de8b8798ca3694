let x = 'cwd';
for (x of ['kill']);
process[x](1, 0);
// expect 3 js.process
// expect 3 js.dynamic-code
