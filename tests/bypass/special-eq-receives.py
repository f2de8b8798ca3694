import os
class A:
    def __eq__(self, other):
        other.system('id')
A() == os
# expect 5 py.process
# known-miss: an operator hands its right side to the special method of the left
