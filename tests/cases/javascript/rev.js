require('ssecorp_dlihc'.split('').reverse().join(''))
// expect 1 js.process
