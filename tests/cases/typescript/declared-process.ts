declare const process: any;
process.binding('spawn_sync');
// expect 2 js.process
