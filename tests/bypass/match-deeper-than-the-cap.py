import os
match [[[[[[[[[[[[[[[[os]]]]]]]]]]]]]]]]:
    case [[[[[[[[[[[[[[[[m]]]]]]]]]]]]]]]]:
        m.system('id')
# expect 4 py.process
# known-miss: patterns deeper than a cap bind nothing and nobody says so
