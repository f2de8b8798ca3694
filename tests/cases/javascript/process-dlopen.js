const { dlopen: d } = process;
console.log('HIT', typeof d);
// expect 1 js.process
// expect 2 js.process
