class A { constructor(private k: string, public f: any) {} go() { return this.f[this.k]; } }
new A('constructor', () => 0).go()('return process')();
// expect 2 js.dynamic-code
