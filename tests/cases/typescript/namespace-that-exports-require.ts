namespace N { export const r = require; }
N.r('child_process').exec('id');
module M { export namespace K { export let p = process; } }
M.K.p.binding('spawn_sync');
namespace N { export let { binding } = process; }
N.binding('spawn_sync');
namespace A.B.C { export const r = require; } A.B.C.r('child_process').exec('id');
// expect 2 sh.command
// expect 2 js.process
// expect 4 js.process
// expect 6 js.process
// expect 7 sh.command
// expect 7 js.process
