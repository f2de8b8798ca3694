Array.prototype.slice.call(arguments, 1)[0]('child_process').exec('id');
// expect 1 sh.command
// expect 1 js.process
