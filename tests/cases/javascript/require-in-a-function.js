function load(n) { return require(n); }
load('child_' + 'process').execSync('id');
// expect 1 js.process
// expect 1 js.dynamic-code
// expect 2 sh.command
