const n = 'child_process';
(await import(`node:${n}`)).default.execSync('id');
// expect 2 sh.command
// expect 2 js.process
