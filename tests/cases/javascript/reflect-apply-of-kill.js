Reflect.apply(process['ki' + 'll'], process, [1, 0]);
// expect 1 js.process
