const x = ['ki'];
const y = x;
y.push('ll');
process[x.join('')](1, 0);
// expect 4 js.process
// known-miss: an array that is changed is folded as it was
