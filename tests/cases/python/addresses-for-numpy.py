import numpy as np
class A:
    __array_interface__ = {'shape': (8,), 'typestr': '|u1', 'data': (0x400000, False), 'version': 3}
np.array(A())
import numpy as np
class A:
    @property
    def __array_interface__(self): return {'data': (1, False)}
import numpy as np
class A:
    @property
    def __array_struct__(self): return x
import numpy as np
class A: pass
a = A(); a.__array_interface__ = {'data': (1, False)}
# expect 3 py.native
# expect 8 py.native
# expect 12 py.native
# expect 15 py.native
