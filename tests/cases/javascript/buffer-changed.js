const b = Buffer.from('xill');
b[0] = 107;
process[b.toString()](1, 0);
// expect 3 js.dynamic-code
