import os
match [[[[[[[[[[[[[[[[os]]]]]]]]]]]]]]]]:
    case [[[[[[[[[[[[[[[[m]]]]]]]]]]]]]]]]:
        m.system('id')
# expect 4 py.process
# expect 4 sh.command
