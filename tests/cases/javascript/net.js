import net from 'node:net'
// expect 1 js.socket
