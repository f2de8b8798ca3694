require('child_'+'process')
// expect 1 js.process
