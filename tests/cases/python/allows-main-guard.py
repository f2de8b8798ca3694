import sys
def main(argv):
    print(len(argv))
    return 0
if __name__ == "__main__":
    sys.exit(main(sys.argv))
