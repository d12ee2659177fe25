"""The bytes that testkit's servers send for a body of N bytes."""


def pattern(length):
    return bytes(97 + (position % 251 + position // 251) % 26 for position in range(length))
