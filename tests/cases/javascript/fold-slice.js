process['xxkill'.slice(2)](1, 0);
// expect 1 js.process
