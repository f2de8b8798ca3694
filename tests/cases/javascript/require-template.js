const a = 'child';
require(`${a}_process`).execSync('id');
// expect 2 sh.command
// expect 2 js.process
