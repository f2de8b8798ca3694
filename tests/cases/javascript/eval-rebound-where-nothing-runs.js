if (0) eval = 1;
eval(text);
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
