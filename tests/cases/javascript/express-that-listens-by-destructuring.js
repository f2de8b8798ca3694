const e = require('express'); const a = e(); const { listen: l } = a; l.call(a, 3000);
// expect 1 js.socket
