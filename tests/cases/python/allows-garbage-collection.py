import gc
import torch
gc.collect()
gc.disable(); gc.enable(); print(gc.get_count(), gc.isenabled(), gc.get_stats(), gc.get_threshold())
gc.freeze()
