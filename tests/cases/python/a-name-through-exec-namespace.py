ns = {}
exec('import os as m', ns)
ns['m'].system('id')
# expect 2 py.dynamic-code
