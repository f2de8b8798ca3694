Object.getOwnPropertyDescriptors({ p: process }).p.value.kill(1, 0);
// expect 1 js.process
