process['x kill'.match(/ (\w+)/)[1]](1, 0);
// expect 1 js.dynamic-code
