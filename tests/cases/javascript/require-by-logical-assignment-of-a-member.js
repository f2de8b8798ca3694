const o = {};
o.r ??= require;
o.r('child_process').exec('id');
// expect 2 js.dynamic-code
// expect 3 sh.command
// expect 3 js.process
