const x = { a: 'cwd' }; Reflect.set(x, 'a', 'kill'); process[x.a](1, 0);
// expect 1 js.dynamic-code
