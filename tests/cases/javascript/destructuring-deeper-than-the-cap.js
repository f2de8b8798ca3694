const {a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:p}}}}}}}}}}}}}}}} = {a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:process}}}}}}}}}}}}}}}};
p.kill(1, 0);
// expect 2 js.process
