"""The text of `show interface`, as ntc-templates and NAPALM read it from switches with NX-OS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PORT = """\
{interface} is {state}{reason}
admin state is {admin_state}, Dedicated Interface
  Hardware: Ethernet, address: {eth_hw_addr} (bia {eth_hw_addr})
{description}{address}  MTU {eth_mtu} bytes, BW {eth_bw} Kbit, DLY 10 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, medium is broadcast
  full-duplex, {gbps:g} Gb/s
  Last link flapped {eth_link_flapped}
  Last clearing of "show interface" counters never
  {eth_reset_cntr} interface resets
  RX
    {eth_inucast} unicast packets  {eth_inmcast} multicast packets  {eth_inbcast} broadcast packets
    {eth_inpkts} input packets  {eth_inbytes} bytes
    0 jumbo packets  0 storm suppression bytes
    0 runts  0 giants  {eth_crc} CRC  0 no buffer
    {eth_inerr} input error  0 short frame  0 overrun   0 underrun  0 ignored
    0 watchdog  0 bad etype drop  0 bad proto drop  0 if down drop
    0 input with dribble  {eth_indiscard} input discard
    0 Rx pause
  TX
    {eth_outucast} unicast packets  {eth_outmcast} multicast packets  {eth_outbcast} broadcast packets
    {eth_outpkts} output packets  {eth_outbytes} bytes
    0 jumbo packets
    {eth_outerr} output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  {eth_outdiscard} output discard
    0 Tx pause
"""
_LOOPBACK = """\
{interface} is {state}{reason}
admin state is {admin_state},
  Hardware: Loopback
{description}{address}  MTU {eth_mtu} bytes, BW {eth_bw} Kbit, DLY 5000 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation LOOPBACK, medium is broadcast
"""
_ADDRESS = "  Internet Address is {eth_ip_addr}/{eth_ip_mask}\n"


def interface_text(row: Mapping[str, Any]) -> str:
    """An interface. row: of `show interface | json`."""
    form = _PORT if "eth_hw_addr" in row else _LOOPBACK
    return form.format_map(
        {
            **row,
            "reason": f" ({row['state_rsn_desc']})" if "state_rsn_desc" in row else "",
            "description": f"  Description: {row['desc']}\n" if "desc" in row else "",
            "address": _ADDRESS.format_map(row) if "eth_ip_addr" in row else "",
            "gbps": int(row["eth_bw"]) / 1_000_000,
        }
    )
