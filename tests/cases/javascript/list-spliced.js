const x = ['ki', 'z', 'll'];
x.splice(1, 1);
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
