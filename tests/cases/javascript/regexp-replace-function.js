'kill'.replace(/\w+/, (m) => process[m](1, 0));
// expect 1 js.dynamic-code
