const f = () => { throw require; };
try { f(); } catch (e) { e('child_process').exec('id'); }
// expect 1 js.dynamic-code
