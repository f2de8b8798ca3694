const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
WebAssembly.instantiate(bytes).then(() => console.log('HIT'));
// expect 2 js.dynamic-code
