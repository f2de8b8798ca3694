const { get } = Reflect;
get(process, 'kill')(1, 0);
// expect 2 js.process
