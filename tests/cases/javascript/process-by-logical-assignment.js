let m = {}; m.x &&= 1; m.x ||= globalThis.process; m.x.binding('spawn_sync');
// expect 1 js.process
