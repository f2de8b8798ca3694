class A { run(@eval x: string) {} }
// expect 1 js.dynamic-code
