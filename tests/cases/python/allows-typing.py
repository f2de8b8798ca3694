from typing import Optional, List
def f(a: Optional[int]=None) -> List[int]: return [a or 0]
