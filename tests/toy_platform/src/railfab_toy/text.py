"""Text format of Toy OS: two blanks a level, no separators."""

from railfab.platforms.shared.line_tree import LineFormat

FORMAT = LineFormat(indent=2, separator="#", ends=False, exits=frozenset(), comments="#")
text = FORMAT.text
