\u0065val('1')
// expect 1 js.dynamic-code
