const express = require('express');
const app = express();
app.get('/', (q, r) => r.send('x'));
app.listen(3000);
// expect 4 js.socket
