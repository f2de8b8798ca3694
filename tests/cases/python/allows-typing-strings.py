from __future__ import annotations
from typing import TYPE_CHECKING, Optional
if TYPE_CHECKING:
    from collections.abc import Iterable
class Node:
    next: "Optional[Node]" = None
    def walk(self) -> "Iterable[Node]":
        yield self
    def find(self, x: 'int | None', f: 'Callable[[int], str]' = None) -> 'Node':
        return self
print(len(list(Node().walk())))
