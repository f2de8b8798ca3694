process.env.NODE_OPTIONS = '-r ./x.js';
// expect 1 any.loader
// expect 1 any.steer
