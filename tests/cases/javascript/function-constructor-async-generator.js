const G = (async function* () {}).constructor;
G('console.log("HIT")')().next();
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
