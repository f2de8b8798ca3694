let r; ({ r = require } = {}); r('child_process').exec('id');
// expect 1 sh.command
// expect 1 js.process
