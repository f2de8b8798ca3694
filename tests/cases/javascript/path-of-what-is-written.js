const fs = require('fs');
fs.writeFileSync('/etc/x', 'x');
fs.appendFile('/usr/lib/x', 'x', () => {});
fs.copyFileSync('a', '/etc/b');
fs.renameSync('a', '/etc/b');
require('fs/promises').writeFile('/var/x', 'x');
// expect 2 js.open-outside
// expect 3 js.open-outside
// expect 4 js.open-outside
// expect 5 js.open-outside
// expect 6 js.open-outside
