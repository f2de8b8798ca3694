class A extends (require('net').Server as any)<string> {}
// expect 1 js.socket
