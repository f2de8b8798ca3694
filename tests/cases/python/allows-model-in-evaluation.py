import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1, 1)
    def forward(self, x):
        return self.l(x)
model = Net()
model.eval()
with torch.no_grad():
    print(model(torch.zeros(1)))
