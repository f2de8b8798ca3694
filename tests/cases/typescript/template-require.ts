const part = 'process' as const;
require(`child_${part!}`);
// expect 2 js.process
