import builtins
getattr(builtins,'_'+'_import_'+'_')('subprocess').run(['id'])
# expect 1 py.dynamic-code
# expect 2 py.process
# expect 2 py.dynamic-code
# expect 2 py.internals
# expect 2 sh.command
