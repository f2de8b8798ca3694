process[`k${`i${'l'}`}l`](1, 0);
// expect 1 js.process
