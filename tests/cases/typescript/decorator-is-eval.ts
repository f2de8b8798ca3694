@eval
class A {}
// expect 1 js.dynamic-code
