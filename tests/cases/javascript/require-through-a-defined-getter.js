const o = {};
Object.defineProperty(o, 'r', { get() { return require; } });
o.r('child_process').exec('id');
// expect 2 js.dynamic-code
// expect 3 js.process
// expect 3 sh.command
