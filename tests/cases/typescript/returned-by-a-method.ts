class A { r(): any { return require; } }
(new A().r() as any)('child_process');
// expect 1 js.dynamic-code
// expect 2 js.process
