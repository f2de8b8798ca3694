process['dlopen']({}, 'x')
// expect 1 js.process
