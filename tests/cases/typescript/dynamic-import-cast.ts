const m = await import(('chi' + 'ld_process') as any);
// expect 1 js.process
