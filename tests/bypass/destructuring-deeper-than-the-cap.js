const {a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:p}}}}}}}}}}}}}}}} = {a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:{a:process}}}}}}}}}}}}}}}};
p.kill(1, 0);
// expect 2 js.process
// known-miss: patterns deeper than a cap bind nothing and nobody says so
