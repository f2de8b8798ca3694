eval<string>('1');
require<typeof import('net')>('net');
// expect 1 js.dynamic-code
// expect 2 js.socket
