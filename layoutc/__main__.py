"""``python -m layoutc`` is the command ``layoutc``."""

from layoutc.cli import main

main(prog_name="layoutc")
