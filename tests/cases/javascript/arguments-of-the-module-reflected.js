Reflect.get(arguments, 1)('child_process').exec('id');
// expect 1 sh.command
// expect 1 js.process
