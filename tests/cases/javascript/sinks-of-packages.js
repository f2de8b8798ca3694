const tpl = require('lodash/template');
const fse = require('fs-extra');
const fs = require('fs');
const { cwd } = require('import-from');
const spawn = require('@npmcli/promise-spawn');
const { Window } = require('happy-dom');
const kill = require('taskkill');
fse.mkdirpSync('/etc/x');
fse.outputJSONSync('/etc/x', {});
fse.createSymlinkSync('a', '/etc/x');
fs.lutimesSync('/etc/x', 1, 1);
// expect 1 js.dynamic-code
// expect 4 js.dynamic-code
// expect 5 js.process
// expect 6 js.dynamic-code
// expect 7 js.process
// expect 8 js.open-outside
// expect 9 js.open-outside
// expect 10 js.open-outside
// expect 11 js.open-outside
