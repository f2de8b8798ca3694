model.eval()
