new (require('worker_threads').Worker)('x')
// expect 1 js.process
