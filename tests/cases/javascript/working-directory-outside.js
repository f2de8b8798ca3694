process.chdir('/etc');
// expect 1 js.open-outside
