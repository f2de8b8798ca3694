import type from 'child_process';
type.exec('id');
// expect 1 js.process
// expect 2 sh.command
