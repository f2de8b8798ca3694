const it = { *[Symbol.iterator]() { yield require; } };
const [r] = it; r('child_process').exec('id');
// expect 1 js.dynamic-code
