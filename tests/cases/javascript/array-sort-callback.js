[process, process].sort((a, b) => a.kill(1, 0));
// expect 1 js.process
