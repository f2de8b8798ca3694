function f() { return f.caller.arguments[1]; }
// expect 1 js.dynamic-code
