const p: string = `${'/etc'}/${'shadow' as string}`;
// expect 1 any.credentials
