import { execSync as x } from 'child_process';
x('id');
// expect 1 js.process
// expect 2 sh.command
