const h = { apply: (t, th, a) => t(...a) }; new Proxy(require, h)('child_process').exec('id');
// expect 1 sh.command
// expect 1 js.process
// expect 1 js.dynamic-code
