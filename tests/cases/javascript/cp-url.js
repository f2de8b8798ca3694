const u='http://x'; const cp=require('child_process')
// expect 1 js.process
