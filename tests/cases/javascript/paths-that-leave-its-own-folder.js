require('fs').writeFileSync(__dirname + '/../../etc/x', '');
require('fs').writeFileSync(require('path').join(__dirname, '../../etc/cron.d/x'), '');
// expect 1 js.open-outside
// expect 2 js.open-outside
// expect 2 any.loader
