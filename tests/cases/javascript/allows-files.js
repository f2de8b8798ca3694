const fs = require('fs');
const path = require('path');
const file = path.join(require('os').tmpdir(), 'wt-ok.txt');
fs.writeFileSync(file, 'a\nb');
console.log(fs.readFileSync(file, 'utf8').split('\n').length, fs.existsSync('nothing'), path.extname(file), fs.readdirSync('.').length >= 0);
