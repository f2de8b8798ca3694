arguments[1]('child_' + 'process').execSync('id');
// expect 1 js.process
