"""Bit errors of an optical link: what a loss of light does before and after forward error correction.

The signal to noise ratio of a receiver that is limited by its own noise falls with the power of the light (Agrawal,
Fiber-Optic Communication Systems, section 4.6: BER = erfc(Q / sqrt 2) / 2). A codeword is lost when more of its symbols
are wrong than the code corrects; a frame when one of its codewords is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import erfc, exp, lgamma, log, log1p, sqrt

from railfab.device import Fec

LOSS_OF_SIGNAL_DB = 10.0
"""A receiver that gets this much less light than usual has no signal; typical of short-reach optics [dB]."""

FLAPPING_SHARE = 0.05
"""A link loses lock again and again when it cannot correct this share of its codewords."""


@dataclass(frozen=True, slots=True)
class _Code:
    """A Reed-Solomon code: symbols of 10 bits in a codeword, those of data, and how many it corrects; usual Q."""

    symbols: int
    data: int
    corrects: int
    quality: float


_CODES = {
    Fec.RS_544: _Code(544, 514, 15, 5.6),
    Fec.RS_528: _Code(528, 514, 7, 7.0),
}
"""IEEE 802.3 clause 91. quality: of a clean link; PAM4 has about 1e-8 wrong bits before correction, NRZ 1e-12."""

_PLAIN_QUALITY = 7.0
_SYMBOL_BITS = 10


def pre_fec_ber(fec: Fec | None, loss_db: float) -> float:
    """Share of bits that arrive wrong. loss_db: light that is missing [dB]."""
    code = _CODES.get(fec) if fec else None
    quality = (code.quality if code else _PLAIN_QUALITY) * 10 ** (-loss_db / 10)
    return 0.5 * erfc(quality / sqrt(2))


@lru_cache(maxsize=4096)
def lost_codewords(fec: Fec | None, loss_db: float) -> float:
    """Share of codewords that cannot be corrected; without Reed-Solomon code of blocks of 514 symbols."""
    ber = pre_fec_ber(fec, loss_db)
    code = _CODES.get(fec) if fec else None
    if code is None:
        return -_expm1_of(514 * _SYMBOL_BITS * log1p(-ber))
    symbol = 1 - (1 - ber) ** _SYMBOL_BITS
    if symbol <= 0.0:
        return 0.0
    return sum(_binomial(code.symbols, wrong, symbol) for wrong in range(code.corrects + 1, code.symbols + 1))


def _expm1_of(exponent: float) -> float:
    return exp(exponent) - 1


def _binomial(count: int, hits: int, share: float) -> float:
    """Probability of exactly so many hits."""
    chosen = lgamma(count + 1) - lgamma(hits + 1) - lgamma(count - hits + 1)
    return exp(chosen + hits * log(share) + (count - hits) * log1p(-share))


def codewords_per_s(fec: Fec | None, rate_gbps: float) -> float:
    """Codewords that a port receives, with or without traffic."""
    code = _CODES.get(fec) if fec else None
    return rate_gbps * 1e9 / ((code.data if code else 514) * _SYMBOL_BITS)


def loss_per_byte(fec: Fec | None, loss_db: float) -> float:
    """Probability that a byte is in a codeword that is lost, by which a frame of n bytes is lost with n times it."""
    return lost_codewords(fec, loss_db) * 8 / (514 * _SYMBOL_BITS)


def is_flapping(fec: Fec | None, loss_db: float) -> bool:
    return loss_db < LOSS_OF_SIGNAL_DB and lost_codewords(fec, loss_db) >= FLAPPING_SHARE
