import os
import types
types.new_class('A', (), {}, lambda ns: ns.update(m=os)).m.system('id')
# expect 3 py.process
# expect 3 sh.command
