from unittest import mock
mock.patch('os.system').get_original()[0]('id')
from unittest.mock import patch
patch('os.getcwd').getter().system('id')
from unittest import mock
with mock.patch.dict('sys.modules') as m:
    m['os'].system('id')
from unittest import mock
with mock.patch.dict('os.__dict__') as d:
    d['system']('id')
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code
# expect 6 py.internals
# expect 7 py.process
# expect 7 py.internals
# expect 7 sh.command
# expect 10 py.process
# expect 10 sh.command
