const x = ['ki'];
x.push('ll');
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
