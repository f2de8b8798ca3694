const wait = (ms, v) => new Promise((resolve, reject) => setTimeout(() => (v ? resolve(v) : reject(new Error('x'))), ms));
wait(1, 2).then((v) => v + 1).then(console.log).finally(() => console.log('done'));
Promise.all([wait(1, 1), wait(1, 2)]).then(([a, b]) => console.log(a + b));
Promise.allSettled([wait(1, 0)]).then((r) => console.log(r[0].status));
wait(1, 0).catch((e) => console.log(e.message));
