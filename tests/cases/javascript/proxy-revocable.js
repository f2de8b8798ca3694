Proxy.revocable(process, {}).proxy.kill(1, 0);
// expect 1 js.process
