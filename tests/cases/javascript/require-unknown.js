require(process.argv[2] || 'child_process').execSync('id');
// expect 1 sh.command
// expect 1 js.process
// expect 1 js.dynamic-code
