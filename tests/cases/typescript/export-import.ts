export import cp = require('child_process');
// expect 1 source.syntax
