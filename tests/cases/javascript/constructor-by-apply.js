function at(f, k) { return f[k]; }
at.apply(null, [() => 0, 'constructor'])('return process')();
// expect 2 js.dynamic-code
