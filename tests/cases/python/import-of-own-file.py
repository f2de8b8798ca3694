open('helper.py', 'w').write('import os; os.system(%r)' % 'id')
import helper
# expect 2 any.written-import
