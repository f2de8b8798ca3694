const {child_process: {exec}} = {child_process: require('child_process')}
// expect 1 js.process
