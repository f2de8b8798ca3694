pip install numpy
