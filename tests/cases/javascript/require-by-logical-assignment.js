let r;
r ??= require;
r('child_process').exec('id');
// expect 3 sh.command
// expect 3 js.process
