from logging import *
from shutil import *
import logging
logging.os.system('id')
# expect 4 py.process
# expect 4 sh.command
