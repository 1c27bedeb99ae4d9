"""`python -m railfab`."""

from railfab.cli import main

main()
