(eval satisfies Function)('1');
// expect 1 js.dynamic-code
