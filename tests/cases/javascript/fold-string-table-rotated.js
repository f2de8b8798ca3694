const t = ['ll', 'ki'];
t.push(t.shift());
process[t[0] + t[1]](1, 0);
// expect 3 js.dynamic-code
