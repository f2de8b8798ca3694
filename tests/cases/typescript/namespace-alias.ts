namespace N { export const run = eval; }
import r = N.run;
r('1');
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
// expect 3 js.dynamic-code
