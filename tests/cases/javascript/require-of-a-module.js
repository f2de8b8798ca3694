module.children[0].require('child_process')
// expect 1 js.process
