require(String.fromCharCode(99, 104, 105, 108, 100, 95, 112, 114, 111, 99, 101, 115, 115)).execSync('id');
// expect 1 sh.command
// expect 1 js.process
