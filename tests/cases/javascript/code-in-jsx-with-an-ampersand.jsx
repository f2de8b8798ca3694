const y = <p title="a&b">Tom & Jerry {require('child_process').exec('id')}</p>;
// expect 1 js.process
// expect 1 sh.command
