let x = 'cwd';
for (x of ['kill']);
process[x](1, 0);
// expect 3 js.process
// known-miss: a loop that assigns a name of before
