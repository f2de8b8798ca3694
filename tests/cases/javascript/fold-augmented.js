let s = 'ki';
s += 'll';
process[s](1, 0);
// expect 3 js.process
// expect 3 js.dynamic-code
