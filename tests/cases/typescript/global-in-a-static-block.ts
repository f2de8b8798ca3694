class A { static { (globalThis as any).q = require; } } (globalThis as any).q('child_process').exec('id');
// expect 1 sh.command
// expect 1 js.process
