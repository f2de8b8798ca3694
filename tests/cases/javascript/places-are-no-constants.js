const path = require('path'), os = require('os'), fs = require('fs');
require(process.cwd().replace('/workspace', 'child_process'));
require('/workspace'.replace(process.cwd(), 'child_process'));
require({ 'a//b': 'fs', 'a/b': 'child_process' }[path.normalize('a//b')]);
require({ 'a/b': 'fs', '/workspace/a/b': 'child_process' }[path.resolve('a/b')]);
require({ '.': 'fs', '/workspace': 'child_process' }[__dirname]);
require({ '~': 'fs', '/workspace': 'child_process' }[os.homedir()]);
fs.rmSync(path.dirname(process.cwd()), { recursive: true });
fs.rmSync(path.resolve('x', '..', '..'));
fs.rmSync(`${process.cwd()}/../x`);
fs.rmSync(path.join(os.homedir(), '..', 'x'));
// expect 2 js.dynamic-code
// expect 3 js.dynamic-code
// expect 4 js.dynamic-code
// expect 5 js.dynamic-code
// expect 6 js.dynamic-code
// expect 7 js.dynamic-code
// expect 8 js.open-outside
// expect 9 js.open-outside
// expect 10 js.open-outside
// expect 11 js.open-outside
// expect 4 js.process
// expect 5 js.process
// expect 6 js.process
// expect 7 js.process
