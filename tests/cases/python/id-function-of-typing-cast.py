import os
import typing
typing.cast(object, os).system('id')
# expect 3 py.process
# expect 3 sh.command
