const r = require.bind(null, 'child_' + 'process');
r().execSync('id');
// expect 2 sh.command
// expect 2 js.process
