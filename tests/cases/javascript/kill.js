process.kill(1)
// expect 1 js.process
