const Database = require('better-sqlite3');
const { DatabaseSync } = require('node:sqlite');
new Database('a.db').loadExtension('./x.so');
const db = new DatabaseSync(':memory:', { allowExtension: true });
db.enableLoadExtension(true);
db.loadExtension('./x.so');
// expect 3 js.process
// expect 5 js.process
// expect 6 js.process
