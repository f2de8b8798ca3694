import cp from 'node:child_process';
cp.execSync('id');
// expect 1 js.process
// expect 2 sh.command
