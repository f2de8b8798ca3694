require('http').createServer(()=>{}).listen(80)
// expect 1 js.socket
