const { [process.argv[9] || 'kill']: k } = process;
k(1, 0);
// expect 1 js.process
// expect 2 js.process
// expect 1 js.dynamic-code
