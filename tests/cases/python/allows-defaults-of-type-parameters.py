class A[T = int]:
    x: T
type L[T = str] = list[T]
def f[T: int = bool](x: T) -> T:
    return x
class B[**P = [int, str], *Ts = *tuple[int, ...]]: ...
class A[T]:
    def m(self, x: T) -> T: return x
type Alias[K, V] = dict[K, V]
def first[T](xs: list[T]) -> T: return xs[0]
