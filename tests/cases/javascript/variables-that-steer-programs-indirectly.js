const { env } = process; env.PAGER = './x';
const e = process.env; e.SHELL ??= './x';
// expect 1 any.steer
// expect 2 any.steer
