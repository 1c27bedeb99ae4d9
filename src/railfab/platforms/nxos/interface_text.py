"""The text of `show interface`, as ntc-templates reads it from switches with NX-OS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FORM = """\
{interface} is {state}
admin state is {admin_state}, Dedicated Interface
  Hardware: {kind}, address: {eth_hw_addr} (bia {eth_hw_addr})
{description}  MTU {eth_mtu} bytes, BW {eth_bw} Kbit, DLY 10 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, medium is broadcast
{speed}  RX
    {eth_inpkts} unicast packets  0 multicast packets  0 broadcast packets
    {eth_inpkts} input packets  {eth_inbytes} bytes
    0 jumbo packets  0 storm suppression bytes
    0 runts  0 giants  0 CRC  0 no buffer
    {eth_inerr} input error  0 short frame  0 overrun   0 underrun  0 ignored
    0 watchdog  0 bad etype drop  0 bad proto drop  0 if down drop
    0 input with dribble  {eth_indiscard} input discard
    0 Rx pause
  TX
    {eth_outpkts} unicast packets  0 multicast packets  0 broadcast packets
    {eth_outpkts} output packets  {eth_outbytes} bytes
    0 jumbo packets
    {eth_outerr} output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  {eth_outdiscard} output discard
    0 Tx pause
"""


def interface_text(row: Mapping[str, Any]) -> str:
    """An interface. row: of `show interface | json`."""
    counters = dict.fromkeys(_COUNTERS, 0) | {name: row[name] for name in _COUNTERS if name in row}
    return _FORM.format(
        **{name: row[name] for name in ("interface", "state", "admin_state", "eth_hw_addr", "eth_mtu", "eth_bw")},
        **counters,
        kind="Ethernet" if row["eth_bw"] else "Loopback",
        description=f"  Description: {row['desc']}\n" if row["desc"] else "",
        speed=f"  full-duplex, {row['eth_bw'] // 1_000_000} Gb/s\n" if row["eth_bw"] else "",
    )


_COUNTERS = (
    *("eth_inpkts", "eth_inbytes", "eth_inerr", "eth_indiscard"),
    *("eth_outpkts", "eth_outbytes", "eth_outerr", "eth_outdiscard"),
)
