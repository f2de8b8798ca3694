globalThis[{a: 'x', ...{a: 'eval'}}.a]('1')
// expect 1 js.dynamic-code
