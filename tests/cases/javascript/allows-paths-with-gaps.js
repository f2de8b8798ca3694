const fs = require('fs'), path = require('path');
fs.writeFileSync(`/tmp/${name}.txt`, 'x');
fs.writeFileSync(path.join(__dirname, 'out', name), 'x');
fs.writeFileSync(folder + '/x.txt', 'x');
