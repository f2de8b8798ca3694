class A { get load() { return require; } }
(new A().load)('child_process');
// expect 2 js.process
// known-miss: what a getter returns is not followed
