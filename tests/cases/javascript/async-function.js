async function f() { return process; }
f().then((p) => p.kill(1, 0));
// expect 2 js.process
