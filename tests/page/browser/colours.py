"""How different two colours look."""

from __future__ import annotations

from operator import mul

XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
D65 = (0.9505, 1.0, 1.089)


def cielab(colour: tuple[int, int, int]) -> tuple[float, float, float]:
    """A colour of sRGB (IEC 61966-2-1) in CIELAB of daylight; the distance of two is the difference of CIE 1976."""
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    shares = [sum(map(mul, row, linear)) / white for row, white in zip(XYZ, D65, strict=True)]
    large_x, large_y, large_z = (share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116 for share in shares)
    return 116 * large_y - 16, 500 * (large_x - large_y), 200 * (large_y - large_z)
