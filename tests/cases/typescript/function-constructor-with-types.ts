const f: () => unknown = new Function<string>('return 1' as string) as any;
// expect 1 js.dynamic-code
