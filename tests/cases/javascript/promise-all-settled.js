Promise.allSettled([process]).then((r) => r[0].value.kill(1, 0));
// expect 1 js.process
