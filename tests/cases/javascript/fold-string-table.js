const t = ['ll', 'ki'];
const g = (i) => t[i];
process[g(1) + g(0)](1, 0);
// expect 3 js.dynamic-code
