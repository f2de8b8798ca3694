const fs = require('fs');
eval(fs.readFileSync(0, 'utf8'));
new Function(fs.readFileSync('/dev/stdin', 'utf8'))();
process.stdin.on('data', (chunk) => eval(String(chunk)));
require(fs.readFileSync(0, 'utf8').trim());
// expect 2 js.dynamic-code
// expect 3 js.dynamic-code
// expect 4 js.dynamic-code
// expect 5 js.dynamic-code
