class A { #get() { return process; } go() { this.#get().kill(1, 0); } }
new A().go();
// expect 1 js.process
