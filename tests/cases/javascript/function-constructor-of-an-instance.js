class A {}
new A().constructor.constructor('console.log("HIT")')();
// expect 2 js.dynamic-code
