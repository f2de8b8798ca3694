((((eval as any)!) satisfies any) as unknown as any)!!!('1');
// expect 1 js.dynamic-code
