function A() { this.p = process; this.go = () => this.p.kill(1, 0); }
new A().go();
// expect 1 js.process
