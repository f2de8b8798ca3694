import /* type { x } */ net from 'net';
// expect 1 js.socket
