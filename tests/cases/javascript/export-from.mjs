export { execSync } from 'child_process';
console.log('HIT');
// expect 1 js.process
