e=eval
e("_"+"_import_"+"_('subprocess').run(['nohup','FILE'])")
# expect 1 py.dynamic-code
# expect 2 py.process
# expect 2 py.dynamic-code
# expect 2 sh.command
