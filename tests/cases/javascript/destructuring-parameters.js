const f = ({ p: { kill: k } }) => k(1, 0);
f({ p: process });
// expect 1 js.process
