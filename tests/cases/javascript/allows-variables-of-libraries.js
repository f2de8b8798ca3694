process.env.NODE_ENV = 'test';
process.env.TZ = 'UTC';
const p = (process.env.PATH || '').split(':');
process.env.PORT ||= '3000';
