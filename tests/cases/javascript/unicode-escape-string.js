globalThis['\x65\u0076al']('console.log("HIT")');
// expect 1 js.dynamic-code
