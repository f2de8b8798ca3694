import os
getattr(os, sorted(['getcwd', 'system'], reverse=True)[0])("id")
# expect 2 py.internals
# known-miss: sorted() keeps the order
