import {createRequire} from 'module'
createRequire(import.meta.url)('child_process')
// expect 1 js.dynamic-code
// expect 2 js.process
