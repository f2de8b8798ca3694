const o = { f: () => 0, k: 'constructor', get zz() { return this.f[this.k]; } };
o.zz('return process')();
// expect 2 js.dynamic-code
