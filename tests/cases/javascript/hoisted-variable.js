go();
function go() { p = process; p.kill(1, 0); }
var p;
// expect 2 js.process
