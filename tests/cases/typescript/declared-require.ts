declare function require(name: string): any;
require('dgram');
// expect 2 js.socket
