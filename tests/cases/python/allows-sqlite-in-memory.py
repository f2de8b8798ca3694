import sqlite3
db = sqlite3.connect(':memory:')
db.execute('create table t (a int)')
db.executemany('insert into t values (?)', [(1,), (2,)])
print(db.execute('select sum(a) from t where a > ?', (0,)).fetchone())
