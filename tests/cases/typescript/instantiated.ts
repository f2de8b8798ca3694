const e = eval<string>;
e('1');
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
