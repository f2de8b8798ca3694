class A { get load() { return require; } }
(new A().load)('child_process');
// expect 1 js.dynamic-code
