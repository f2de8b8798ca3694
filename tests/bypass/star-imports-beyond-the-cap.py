from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from math import *
from os import *
system('id')
# expect 19 py.process
# known-miss: star imports beyond the cap are forgotten
