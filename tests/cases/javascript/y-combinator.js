((f) => ((x) => x(x))((y) => f((...a) => y(y)(...a))))(() => (p) => p.kill(1, 0))(process);
// expect 1 js.process
