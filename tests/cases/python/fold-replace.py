import os
getattr(os, 's_y_s_t_e_m'.replace('_', ''))('id')
# expect 2 py.process
# expect 2 sh.command
