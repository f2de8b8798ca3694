class A { #p = process; go() { this.#p.kill(1, 0); } }
new A().go();
// expect 1 js.process
