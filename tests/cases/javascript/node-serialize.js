import serialize from 'node-serialize';
serialize.unserialize(x);
// expect 1 js.machine
