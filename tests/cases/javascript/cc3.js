''['constructor']['constructor']('x')
// expect 1 js.dynamic-code
