WebAssembly.instantiate(x)
// expect 1 js.dynamic-code
