const compose = (f) => (g) => (x) => f(g(x)); compose((r) => r('child_process'))(() => require)(0).exec('id');
// expect 1 js.dynamic-code
