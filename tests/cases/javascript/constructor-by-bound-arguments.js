function at(f, k) { return f[k]; }
const b = at.bind(null, () => 0, 'constructor'); const F = b(); F('return process')();
// expect 2 js.dynamic-code
