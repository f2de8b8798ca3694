new Set([process]).values().next().value.kill(1, 0);
// expect 1 js.process
