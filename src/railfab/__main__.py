"""The entry of `railfab` and of `python -m railfab`; light, so that Ctrl-C is quiet from the first moment."""

import gc
import sys

from railfab.startup_cache import CACHE, keep_generated_code

NEW_OBJECTS = 10_000
"""New objects after which Python's cyclic garbage collector looks at them; its 700 are few for a fabric."""


def main() -> None:
    """Load the command line and run it; exit code 130 when Ctrl-C or SIGTERM ended it, as shells count signals."""
    try:
        gc.disable()  # what is imported stays: the collector would look through it again and again for nothing
        keep_generated_code(CACHE)
        from railfab.cli import main as run

        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()
        run()
    except KeyboardInterrupt:
        sys.stderr.write("railfab: interrupted\n")
        sys.exit(130)
    finally:
        CACHE.save()
        gc.freeze()  # all objects end with the process: a search for cycles took 2 s after `up` on 72 switches


if __name__ == "__main__":
    main()
