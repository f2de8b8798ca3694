require.call(null,'child_process')
// expect 1 js.process
