const W = globalThis['Web' + 'Assembly'];
new W.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
console.log('HIT');
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
