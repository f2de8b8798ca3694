try { throw require; } catch (r) { r('child_process').exec('id'); }
// expect 1 js.dynamic-code
