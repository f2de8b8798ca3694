for (const e of [eval] as any[]) e('1');
// expect 1 js.dynamic-code
