class A { constructor(readonly k: string) {} go(f: any) { return f[this.k]; } }
const F = new A('constructor').go(() => 0); F('return process')();
// expect 2 js.dynamic-code
