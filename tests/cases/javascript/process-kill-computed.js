process['ki' + 'll'](1, 0);
// expect 1 js.process
