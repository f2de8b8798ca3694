const x = { a: 'cwd' }; for (const k in x) x[k] = 'kill'; process[x.a](1, 0);
// expect 1 js.dynamic-code
