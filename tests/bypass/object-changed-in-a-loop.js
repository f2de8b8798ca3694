const x = { a: 'cwd' }; for (const k in x) x[k] = 'kill'; process[x.a](1, 0);
// expect 1 js.process
// known-miss: an object that is changed by a computed key is folded as it was
