const x = ['ll', 'ki'];
x.push(x.shift());
process[x.join('')](1, 0);
// expect 3 js.dynamic-code
