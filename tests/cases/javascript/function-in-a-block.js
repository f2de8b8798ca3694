{ function get() { return process; } }
get().kill(1, 0);
// expect 2 js.process
