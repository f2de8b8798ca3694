__import__('posix').system('id')
import importlib
importlib.import_module('tempfile')._os.system('id')
__import__('builtins').eval('1')
import importlib
m = importlib.import_module('json')
m.codecs.builtins.exec('1')
import importlib
importlib.import_module(*['os']).system('id')
import importlib
importlib.import_module(**{'name': 'os'}).system('id')
for n in ['json', 'subprocess']:
    m = __import__(n)
import importlib
importlib.util.find_spec('os').loader.exec_module(x)
# expect 1 py.process
# expect 1 py.dynamic-code
# expect 1 sh.command
# expect 2 py.dynamic-code
# expect 3 py.process
# expect 3 sh.command
# expect 4 py.dynamic-code
# expect 5 py.dynamic-code
# expect 7 py.dynamic-code
# expect 8 py.dynamic-code
# expect 9 py.process
# expect 9 sh.command
# expect 10 py.dynamic-code
# expect 11 py.process
# expect 11 sh.command
# expect 13 py.process
# expect 13 py.dynamic-code
# expect 14 py.dynamic-code
# expect 15 py.dynamic-code
# expect 15 py.internals
