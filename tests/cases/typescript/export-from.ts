export { exec } from 'child_process';
// expect 1 js.process
