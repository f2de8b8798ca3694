import os
class V:
    def visit_run(self, m):
        m.system('id')
    def visit(self, kind, m):
        getattr(self, 'visit_' + kind)(m)
V().visit('run', os)
# expect 4 py.process
# expect 4 sh.command
