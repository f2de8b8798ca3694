import typing

import attr


def optional(kind):
    return typing.Optional[kind]


T = typing.TypeVar("T")
kinds = {"int": int, "str": str}
maybe = {name: typing.Optional[kind] for name, kind in kinds.items()}
Pair = typing.Tuple[T, "Node"]
Mode = typing.Literal["r", "w"]


@attr.s
class Node:
    value = attr.ib(type=int, default=0)
    parent = attr.ib(type=typing.Optional["Node"], default=None)


print(optional(int), maybe, Pair, Mode, Node())
