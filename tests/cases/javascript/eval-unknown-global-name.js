const n = process.argv[9] || 'eval';
globalThis[n]('console.log("HIT")');
// expect 2 js.dynamic-code
