const { AsyncLocalStorage } = require('async_hooks');
const s = new AsyncLocalStorage();
s.run(process, () => s.getStore().kill(1, 0));
// expect 3 js.process
