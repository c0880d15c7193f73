"""Prints how many times each word of a file occurs."""

import sys
from collections import Counter
from pathlib import Path


def count_words(text: str, ignore_case: bool = True) -> Counter[str]:
    return Counter(text.lower().split() if ignore_case else text.split())


def main(path: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    for word, n_times in count_words().most_common(10):
        print(f"{n_times:6} {word}")


if __name__ == "__main__":
    main(sys.argv[1])
