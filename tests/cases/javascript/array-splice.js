[1, process].splice(1, 1)[0].kill(1, 0);
// expect 1 js.process
