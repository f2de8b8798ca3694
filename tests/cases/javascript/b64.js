eval(atob('MQ=='))
// expect 1 js.dynamic-code
