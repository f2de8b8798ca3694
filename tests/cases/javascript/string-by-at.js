const s = 'abcdefghijkl';
process[s.at(10) + s.at(8) + s.at(11) + s.at(11)](1, 0);
// expect 2 js.process
