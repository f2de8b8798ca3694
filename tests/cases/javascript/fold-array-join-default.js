process[['kill'] + ''](1, 0);
// expect 1 js.dynamic-code
