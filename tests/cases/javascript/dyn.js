require(name)
// expect 1 js.dynamic-code
