const get = () => process;
get().kill(1, 0);
// expect 2 js.process
