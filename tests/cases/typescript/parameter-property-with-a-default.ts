class A { constructor(public r = require) {} }
new A().r('child_process').exec('id');
class A { constructor(private readonly p: any = process) {} go() { this.p.binding('x'); } }
new A().go();
// expect 2 sh.command
// expect 2 js.process
// expect 3 js.process
