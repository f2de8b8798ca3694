class F extends (class {}).constructor {}
new F('console.log("HIT")')();
// expect 1 js.dynamic-code
