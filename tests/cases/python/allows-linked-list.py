class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
class List:
    def __init__(self):
        self.head = None
    def push(self, value):
        self.head = Node(value, self.head)
    def reverse(self):
        prev, cur = None, self.head
        while cur:
            cur.next, prev, cur = prev, cur, cur.next
        self.head = prev
l = List()
l.push(1)
l.push(2)
l.reverse()
print(l.head.value, l.head.next.value)
