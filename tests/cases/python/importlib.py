import importlib
importlib.import_module('subprocess').run(['nohup','FILE'])
# expect 1 py.dynamic-code
# expect 2 py.process
# expect 2 sh.command
