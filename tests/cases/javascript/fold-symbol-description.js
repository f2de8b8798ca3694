process[Symbol('kill').description](1, 0);
// expect 1 js.dynamic-code
