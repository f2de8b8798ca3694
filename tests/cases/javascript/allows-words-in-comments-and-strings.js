// eval('1'); require('child_process').exec('id')
/* new Function('x') */
const help = 'Use require("fs") and never eval() or child_process';
console.log(help, `process.kill(1)`);
