import functools
import logging
functools.reduce(getattr, 'os.system'.split('.'), logging)('id')
# expect 3 py.process
# expect 3 sh.command
