process['KILL'.toLowerCase()](1, 0);
// expect 1 js.process
