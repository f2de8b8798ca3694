const { setTimeout: t } = require('timers/promises');
t(1, process).then((p) => p.kill(1, 0));
// expect 2 js.process
