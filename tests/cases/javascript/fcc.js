globalThis[String.fromCharCode(101,118,97,108)]('1')
// expect 1 js.dynamic-code
