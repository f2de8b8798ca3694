require('fs').writeFileSync('/tmp/zz.js', text);
require('/tmp/zz.js');
// expect 2 any.written-import
