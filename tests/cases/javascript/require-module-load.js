module.constructor._load('child_' + 'process').execSync('id');
// expect 1 sh.command
// expect 1 js.process
// expect 1 js.dynamic-code
