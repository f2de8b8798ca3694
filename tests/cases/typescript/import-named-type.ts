import { type ChildProcess, exec } from 'child_process';
exec('id');
// expect 1 js.process
// expect 2 sh.command
