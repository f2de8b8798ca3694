import os
getattr(os, 'a'.expandtabs() and '\tsystem'.expandtabs(0))("id")
# expect 2 py.internals
