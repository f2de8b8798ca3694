({ valueOf() { [process][0].kill(1, 0); return 1; } }) * 1;
// expect 1 js.process
