class A {}
A.constructor('console.log("HIT")')();
// expect 2 js.dynamic-code
