const r = require.bind(null);
r('child_' + 'process').execSync('id');
// expect 2 sh.command
// expect 2 js.process
