const readline = require('readline');
let bytes = 0;
process.stdin.on('data', (chunk) => { bytes += chunk.length; });
process.stdin.on('end', () => console.log(bytes));
const lines = readline.createInterface({ input: process.stdin });
for await (const line of lines) console.log(line.split(',').map(Number));
console.log(JSON.parse(require('fs').readFileSync(0, 'utf8') || 'null'));
