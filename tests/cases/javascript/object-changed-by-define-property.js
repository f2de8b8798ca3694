const x = { a: 'cwd' }; Object.defineProperty(x, 'a', { get: () => 'kill' }); process[x.a](1, 0);
// expect 1 js.dynamic-code
// expect 1 js.process
