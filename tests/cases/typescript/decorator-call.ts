class A { @wrap(require('child_process').exec as any) run() {} }
// expect 1 js.process
