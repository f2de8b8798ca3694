const r=require; r('child_process')
// expect 1 js.process
