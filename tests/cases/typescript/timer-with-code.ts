setTimeout('alert(1)' as any, 10 as number);
// expect 1 js.dynamic-code
