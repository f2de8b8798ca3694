process.env.PATH = './bin:' + process.env.PATH;
process.env['NODE_' + 'OPTIONS'] = '--require ./x';
Object.assign(process.env, { EDITOR: './x' });
Reflect.set(process.env, 'BROWSER', './x');
// expect 1 any.steer
// expect 2 any.loader
// expect 2 any.steer
// expect 3 any.steer
// expect 4 any.steer
