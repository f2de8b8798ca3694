import('data:text/javascript,1')
// expect 1 js.dynamic-code
