const g = (x, ...a) => a[0][a[1]];
const F = g(1, () => 0, 'constructor'); F('return process')();
// expect 2 js.dynamic-code
