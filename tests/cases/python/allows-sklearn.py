from sklearn.linear_model import LinearRegression
m = LinearRegression().fit(X, y)
print(m.score(X,y))
