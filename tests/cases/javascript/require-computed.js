const n = ['process', 'child'].reverse().join('_');
require(n).execSync('id');
// expect 2 sh.command
// expect 2 js.process
