[...arguments][1]('child_process').execSync('id');
// expect 1 js.process
