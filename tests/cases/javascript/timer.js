setTimeout('1', 5)
// expect 1 js.dynamic-code
