import unittest
class T(unittest.TestCase):
    def setUp(self):
        self.x = 1
    def test_a(self):
        self.assertEqual(self.x, 1)
        with self.assertRaises(ZeroDivisionError):
            1 / 0
unittest.main(argv=['x'], exit=False)
