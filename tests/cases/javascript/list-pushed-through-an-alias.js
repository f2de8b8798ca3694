const x = ['ki'];
const y = x;
y.push('ll');
process[x.join('')](1, 0);
// expect 4 js.dynamic-code
