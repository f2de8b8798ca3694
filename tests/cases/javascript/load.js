module.constructor._load('child_process')
// expect 1 js.process
// expect 1 js.dynamic-code
