import { createRequire } from 'node:module';
const r = createRequire(import.meta.url);
r('child_' + 'process').execSync('id');
// expect 1 js.dynamic-code
// expect 3 sh.command
// expect 3 js.process
