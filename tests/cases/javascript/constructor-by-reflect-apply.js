function at(k) { return this[k]; }
Reflect.apply(at, () => 0, ['constructor'])('return process')();
// expect 2 js.dynamic-code
