import traitlets
traitlets.import_item('os.system')('id')
import traitlets
class A(traitlets.HasTraits):
    x = traitlets.Type('os.system')
A().x
# expect 2 py.dynamic-code
# expect 5 py.dynamic-code
