const x = ['a', 'b'];
[x[0], x[1]] = ['ki', 'll'];
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
