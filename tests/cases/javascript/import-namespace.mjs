import * as all from 'child_process';
all['exec' + 'Sync']('id');
// expect 1 js.process
// expect 2 sh.command
