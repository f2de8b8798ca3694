const { exec: run }: { exec: any } = require('child_process') as any;
run('id');
// expect 1 js.process
// expect 2 sh.command
