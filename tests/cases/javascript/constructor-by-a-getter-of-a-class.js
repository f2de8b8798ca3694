class A { constructor(f, k) { this.f = f; this.k = k; } get zz() { return this.f[this.k]; } }
const F = new A(() => 0, 'constructor').zz; F('return process')();
// expect 2 js.dynamic-code
