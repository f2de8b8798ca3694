class A { get r() { return require; } }
new A().r('child_process').exec('id');
// expect 1 js.dynamic-code
