const o = { doKill(p) { p.kill(1, 0); } };
o['do' + 'Kill'](process);
// expect 1 js.process
