import os
getattr(os, ''.join(sorted(['b:tem', 'a:sys'])).replace('a:', '').replace('b:', ''))('id')
# expect 2 py.process
# known-miss: sorted() of texts keeps their order here
