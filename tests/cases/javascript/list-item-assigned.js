const x = ['ki', 'z'];
x[1] = 'll';
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
