JSON.parse('{"a":1}', (k, v) => k === 'a' ? require : v).a('child_process').exec('id');
// expect 1 js.dynamic-code
