process[(957225).toString(36)](1, 0);
// expect 1 js.dynamic-code
