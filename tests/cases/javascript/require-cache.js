const load = require;
const cp = load('child_' + 'process');
const { execSync: x } = cp;
x('id');
// expect 2 js.process
// expect 4 sh.command
