from typing import Generic, TypeVar, Protocol
T = TypeVar('T')
class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []
    def push(self, item: T) -> None:
        self.items.append(item)
    def pop(self) -> T:
        return self.items.pop()
class Sized(Protocol):
    def __len__(self) -> int: ...
s: 'Stack[int]' = Stack()
s.push(1)
print(s.pop())
