const t = setInterval(() => { console.log('tick'); clearInterval(t); }, 1);
setTimeout(console.log, 1, 'x');
setImmediate(() => {});
queueMicrotask(() => console.log('micro'));
process.nextTick(() => console.log('next'));
