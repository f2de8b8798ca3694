open('helper.py', 'w').write('import os; os.system(%r)' % 'id')
import helper
# expect 1 py.process
# known-miss: what a program writes into a file and then imports is not read
