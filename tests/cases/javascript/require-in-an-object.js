const f = ({r}) => r('child_process');
f({r: require})
// expect 2 js.dynamic-code
// expect 1 js.process
