process.\u006bill(1, 0);
// expect 1 js.process
