exports.p = process;
module.exports.p.kill(1, 0);
// expect 2 js.process
