import torch
torch.load('m')
# expect 2 py.deserialise
