const run = eval as any as (s: string) => void;
run!('1');
// expect 1 js.dynamic-code
// expect 2 js.dynamic-code
