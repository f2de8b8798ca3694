const x = ['ll', 'ki'];
x.reverse();
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
