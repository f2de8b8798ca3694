const x = ['ki'];
x.push('ll');
process[x.join('')](1, 0);
// expect 3 js.process
// known-miss: an array that is changed is folded as it was
