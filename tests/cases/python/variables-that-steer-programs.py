import os
os.environ['PATH'] = './bin:' + os.environ['PATH']
import os
os.environ |= {'PAGER': './x'}
import os, operator
operator.setitem(os.environ, 'EDITOR', './x')
import os
e = os.environ
e.update({'BROWSER': './x %s'})
import os
os.environ['PYTHONPATH'], x = '/tmp', 1
import posix
posix.putenv(b'GCONV_PATH', b'.')
import os
os.environ.__setitem__('SHELL', './x')
import os
for os.environ['EDITOR'] in ['./x']: pass
import os
os.environ['MPLBACKEND'] = 'module://evil'
import os
os.environ.update([('PAGER', './x')])
import os
os.environ.data = {}
os.environ._data[b'PAGER'] = b'./x'
# expect 2 any.steer
# expect 4 any.steer
# expect 6 any.steer
# expect 9 any.steer
# expect 11 any.steer
# expect 13 any.steer
# expect 15 any.steer
# expect 17 any.steer
# expect 19 any.steer
# expect 21 any.steer
# expect 24 any.steer
