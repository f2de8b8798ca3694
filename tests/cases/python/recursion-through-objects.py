import os
class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next
n = Node(1, Node(2, Node(os)))
n.next.next.value.system('id')
# expect 6 py.process
# expect 6 sh.command
