[process].entries().next().value[1].kill(1, 0);
// expect 1 js.process
