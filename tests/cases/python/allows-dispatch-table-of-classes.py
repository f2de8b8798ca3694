class Dog:
    def speak(self):
        return 'wau'
class Cat:
    def speak(self):
        return 'miau'
animals = {'dog': Dog, 'cat': Cat}
kind = 'dog'
print(animals[kind]().speak())
