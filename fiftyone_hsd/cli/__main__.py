"""`python -m fiftyone_hsd.cli`."""

from . import main

if __name__ == "__main__":
    main()
