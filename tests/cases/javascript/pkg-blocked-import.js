const sh = require('shelljs');
import('execa');
// expect 1 pkg.blocked
// expect 2 pkg.blocked
// expect 1 js.process
// expect 2 js.process
