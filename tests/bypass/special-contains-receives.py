import os
class A:
    def __contains__(self, other):
        other.system('id')
os in A()
# expect 5 py.process
# known-miss: an operator hands its left side to the special method of the right
