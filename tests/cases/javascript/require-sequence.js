(0, require)('child_' + 'process').execSync('id');
// expect 1 sh.command
// expect 1 js.process
