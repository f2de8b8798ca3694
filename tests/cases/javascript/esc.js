require('child\x5fprocess')
// expect 1 js.process
