const box = [];
box.push(process);
box[0].kill(1, 0);
// expect 3 js.process
