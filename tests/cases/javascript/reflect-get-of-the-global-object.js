const x = process.argv[2]; const p = Reflect.get(globalThis, x); p('id');
// expect 1 js.dynamic-code
