class A { constructor(private readonly cp: any = require('child_process')) {} }
// expect 1 js.process
