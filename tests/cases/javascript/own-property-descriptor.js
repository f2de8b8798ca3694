Object.getOwnPropertyDescriptor(globalThis, 'process').get?.call(globalThis)?.kill(1, 0);
process['kill'](1, 0);
// expect 2 js.process
