process[new TextDecoder().decode(new Uint8Array([107, 105, 108, 108]))](1, 0);
// expect 1 js.dynamic-code
