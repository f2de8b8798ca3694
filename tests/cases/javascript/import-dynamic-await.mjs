const { execSync } = await import('node:child_' + 'process');
execSync('id');
// expect 1 js.process
// expect 2 sh.command
