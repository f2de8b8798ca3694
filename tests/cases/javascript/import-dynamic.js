import('child_' + 'process').then((m) => m.execSync('id'));
// expect 1 js.process
// expect 1 sh.command
