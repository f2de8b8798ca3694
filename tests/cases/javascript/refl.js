Reflect.apply(eval, null, ['1'])
// expect 1 js.dynamic-code
