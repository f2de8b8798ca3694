const p = new Proxy({}, { get: () => require });
p.x('child_process').exec('id');
// expect 1 js.dynamic-code
