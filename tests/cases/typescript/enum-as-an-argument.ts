enum K { A = 'constructor' }
function at(f: any, k: K) { return f[k]; }
const F = at(() => 0, K.A);
F('return process')();
// expect 3 js.dynamic-code
// expect 4 js.dynamic-code
