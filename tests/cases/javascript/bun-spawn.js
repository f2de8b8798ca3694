Bun.spawn(['id']); Bun.spawnSync(['id']); await Bun.$`id`; const { spawn } = Bun; spawn(['id']);
// expect 1 js.process
// expect 1 sh.command
