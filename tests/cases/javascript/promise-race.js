Promise.race([process]).then((p) => p.kill(1, 0));
// expect 1 js.process
