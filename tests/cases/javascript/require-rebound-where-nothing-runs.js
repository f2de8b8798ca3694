if (0) require = 1;
require('child_process');
// expect 2 js.process
