'x'.replace(/x/, () => { [process][0].kill(1, 0); return ''; });
// expect 1 js.process
