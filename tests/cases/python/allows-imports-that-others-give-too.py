from Crypto.Cipher import AES
import typing
import yaml, PIL, cv2, sklearn, dateutil
