require.apply(null,['child_process'])
// expect 1 js.process
