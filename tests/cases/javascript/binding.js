process.binding('spawn_sync')
// expect 1 js.process
