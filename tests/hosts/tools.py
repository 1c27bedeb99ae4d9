"""Stands for the tools of a host in tests, under their names: keeps the settings of its NICs in `state` beside bin/,
and records each call in calls.log.

`tools.py REQUESTS ANSWERS` serves all calls of a test run, of which a shell script writes each to the first pipe: its
pid, its own path, the number of its arguments and the arguments, one a line. A process that is forked for the call
writes to the streams of that script, and its exit code goes to the second pipe. To start Python takes more CPU.

Outputs and refusals are those of:
mlnx_qos: Mellanox/mlnx-tools, python/mlnx_qos, pretty_print and the checks of its options;
mlxconfig: query of a ConnectX-4 Lx in a public note (names, values and layout);
dcb: manual pages dcb-app(8), dcb-dcbx(8), dcb-ets(8) and dcb-pfc(8) of iproute2, examples;
nicctl: AMD, SGLang distributed inference with MoRI, outputs of `nicctl show port`, `show qos` and `show dcqcn`;
ip, ethtool, systemctl: iproute2 6.1, ethtool 6.1, systemd 252.
"""

import json
import marshal
import os
import sys
import traceback

HOME, NAME, ARGUMENTS = "", "", []
"""Of the call: the folder of the host, the name of the tool and its arguments."""


def fail(message, code=1):
    sys.stderr.write(message + "\n")
    sys.exit(code)


def option(name, default=None):
    return ARGUMENTS[ARGUMENTS.index(name) + 1] if name in ARGUMENTS else default


def after(word):
    """The words after a keyword, up to the next keyword: pairs such as 3:on."""
    words = ARGUMENTS[ARGUMENTS.index(word) + 1 :]
    count = next((place for place, one in enumerate(words) if ":" not in one), len(words))
    return [one.split(":") for one in words[:count]]


def mlnx_qos(state):
    nic = state["nics"][option("-i")]
    if "--trust" in ARGUMENTS and "--dscp2prio" in ARGUMENTS:
        fail("trust and dscp2prio commands cannot be used at the same time.")
    if "--dcbx" in ARGUMENTS:
        nic["dcbx"] = {"os": "OS", "fw": "Firmware"}[option("--dcbx")]
    if "--cable_len" in ARGUMENTS:
        nic["cable"] = int(option("--cable_len"))
    if "--pfc" in ARGUMENTS:
        nic["pfc"] = [int(one) for one in option("--pfc").split(",")]
        if len(nic["pfc"]) != 8:
            fail("pfc list must have 8 items")
        nic["buffer"] = list(nic["pfc"])
    for place, word in enumerate(ARGUMENTS):
        if word == "--dscp2prio":
            action, dscp, priority = ARGUMENTS[place + 1].split(",")
            assert action == "set"
            nic["dscp"][dscp] = int(priority)
    if "--trust" in ARGUMENTS:
        nic["trust"] = option("--trust")
    if "--prio2buffer" in ARGUMENTS:
        nic["buffer"] = [int(one) for one in option("--prio2buffer").split(",")]
    mlnx_ets(nic)
    mlnx_print(nic)


def mlnx_ets(nic):
    for name, key in (("--tsa", "tsa"), ("--tcbw", "share"), ("--prio_tc", "class")):
        if name in ARGUMENTS:
            nic[key] = option(name).split(",")
            if len(nic[key]) != 8:
                fail("%s list must have 8 items" % key)
    for algorithm, share in zip(nic["tsa"], nic["share"]):
        if algorithm != "ets" and share != "0":
            fail("ETS BW for a strict/vendor TC must be 0")


def mlnx_print(nic):
    print("DCBX mode: %s controlled" % nic["dcbx"])
    print("Priority trust state: " + nic["trust"])
    if nic["trust"] == "dscp":
        print("dscp2prio mapping:")
        for priority in range(8):
            text = "".join("%02d," % int(dscp) for dscp in reversed(nic["dscp"]) if nic["dscp"][dscp] == priority)
            for first in range(0, len(text), 24):
                print("\tprio:%d dscp:%s" % (priority, text[first : first + 24]))
    print("Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=1027728")
    print("Cable len: %d" % nic["cable"])
    print("PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7")
    print("\tenabled     " + "".join("%1d   " % one for one in nic["pfc"]))
    print("\tbuffer      " + "".join("%1d   " % one for one in nic["buffer"]))
    for number in sorted(set(nic["class"])):
        share = ", bw: %s%%" % nic["share"][int(number)] if nic["tsa"][int(number)] == "ets" else ""
        print("tc: %s ratelimit: unlimited, tsa: %s%s" % (number, nic["tsa"][int(number)], share))
        for priority in range(8):
            if nic["class"][priority] == number:
                print("\t priority:  %d" % priority)


def mlxconfig(state):
    firmware = next(nic["firmware"] for nic in state["nics"].values() if nic["pci"] == option("-d"))
    words = {"LLDP_NB_DCBX_P1": ("False", "True"), "LLDP_NB_RX_MODE_P1": ("OFF", "ALL", "ALL")}
    if "set" in ARGUMENTS:
        for pair in ARGUMENTS[ARGUMENTS.index("set") + 1 :]:
            key, value = pair.split("=")
            firmware[key] = int(value)
        return
    print("\nDevice #1:\n----------\n\nDevice type:        ConnectX7\nDevice:             %s\n" % option("-d"))
    print("Configurations:                                          Next Boot")
    for key, value in firmware.items():
        text = "%s(%d)" % (words[key][value], value) if key in words else str(value)
        print("        %-43s %s" % (key, text))


def dcb(state):
    words = [one for one in ARGUMENTS if one != "-N"]
    what, verb = words[0], words[1]
    nic = state["nics"][words[words.index("dev") + 1]]
    {"dcbx": dcb_dcbx, "app": dcb_app, "pfc": dcb_pfc, "ets": dcb_ets}[what](nic, verb)


def dcb_dcbx(nic, verb):
    if verb == "show":
        print(nic["dcbx"])
    elif nic.get("agent"):
        fail("RTNETLINK answers: Operation not supported")
    else:
        nic["dcbx"] = "host ieee"


def dcb_app(nic, verb):
    key = next(one for one in ("dscp-prio", "dgram-port-prio") if one in ARGUMENTS)
    pairs = nic[key]
    if verb == "show":
        if pairs:
            print(key + " " + " ".join("%s:%s" % tuple(pair) for pair in pairs))
        return
    for pair in after(key):
        if verb == "replace":
            pairs[:] = [one for one in pairs if one[0] != pair[0]] + [pair]
        elif verb == "del":
            pairs.remove(pair)


def dcb_pfc(nic, verb):
    if verb == "set":
        for priority, value in after("prio-pfc"):
            for one in range(8) if priority == "all" else [int(priority)]:
                nic["pfc"][one] = value
        return
    print("prio-pfc " + " ".join("%d:%s" % pair for pair in enumerate(nic["pfc"])) + " ")


def dcb_ets(nic, verb):
    keys = [key for key in ("prio-tc", "tc-tsa", "tc-bw") if key in ARGUMENTS]
    if verb == "set" and nic.get("eight") and len(after("tc-tsa")) < 8:
        fail("RTNETLINK answers: Invalid argument")
    for key in keys:
        if verb == "set":
            for number, value in after(key):
                nic[key][int(number)] = value
        else:
            print(key + " " + " ".join("%d:%s" % pair for pair in enumerate(nic[key])) + " ")


def nicctl(state):
    cards, what = list(state["nics"].values()), ARGUMENTS[1]
    if ARGUMENTS[0] == "show":
        nicctl_show(what, cards)
        return
    chosen = [nic for nic in cards if option("-p") in (None, nic["port"])]
    if what == "port":
        for nic in chosen:
            nic["pause"] = [option("--pause-type").upper(), option("--tx-pause") + "d", option("--rx-pause") + "d"]
    elif what == "dcqcn":
        for nic in cards:
            if nic["rdma"] == option("-r"):
                nic["dcqcn"] = {word[2:]: option(word) for word in ARGUMENTS if word.startswith("--")}
    else:
        for nic in chosen:
            nicctl_qos(nic)


def nicctl_qos(nic):
    if "--classification-type" in ARGUMENTS:
        nic["trust"] = option("--classification-type").upper()
    elif "dscp-to-priority" in ARGUMENTS:
        nic["dscp"][option("--dscp")] = int(option("--priority"))
    elif "pfc" in ARGUMENTS:
        priority = int(option("--priority"))
        nic["nodrop"] = sorted({*nic["nodrop"], priority} - ({priority} if option("--no-drop") == "disable" else set()))
    elif "scheduling" in ARGUMENTS:
        rows = [option(name).split(",") for name in ("--priority", "--dwrr", "--rate-limit")]
        for priority, share, limit in zip(*rows):
            if int(priority) not in nic["dscp"].values() or (share, limit) == ("0", "0"):
                fail("ERROR - Invalid input")
        nic["scheduling"] = sorted(map(list, zip(*rows)))


def ranges(values):
    text, last = [], None
    for value in sorted(values):
        if last is not None and value == last + 1:
            text[-1] = [text[-1][0], value]
        else:
            text.append([value, value])
        last = value
    return ", ".join(str(a) if a == b else "%d-%d" % (a, b) for a, b in text)


def nicctl_show(what, cards):
    for nic in cards:
        if what == "port":
            print(
                "-" * 85 + "\n\nNIC  : %s (%s)\n\nPort : %s (eth1/1)\n  Spec:" % (nic["card"], nic["bdf"], nic["port"])
            )
            for name, value in zip(("Pause type", "TX pause", "RX pause"), nic["pause"]):
                print("    %-41s: %s" % (name, value))
        elif what == "qos":
            nicctl_show_qos(nic)
        elif nic["rdma"] == option("-r"):
            print("NIC : %s (%s)\n%s\n" % (nic["card"], nic["bdf"], "-" * 90))
            print("ROCE device                                : %s\n  DCQCN profile id     : 1" % nic["rdma"])
            print("  Status                                   : " + ("Enabled" if nic["dcqcn"] else "Disabled"))
            for name, words in DCQCN.items():
                if name in nic["dcqcn"]:
                    print("  %-41s: %s" % (words, nic["dcqcn"][name]))


def nicctl_show_qos(nic):
    print("NIC  : %s  (%s)\n\nPort : %s\n" % (nic["card"], nic["bdf"], nic["port"]))
    print("  Classification type         : %s\n\n  DSCP-to-priority :" % nic["trust"])
    by_priority = {}
    for dscp, priority in nic["dscp"].items():
        by_priority.setdefault(priority, []).append(int(dscp))
    for priority, dscps in sorted(by_priority.items()):
        print("    DSCP bitmap               : 0x%016x ==> priority : %d" % (sum(1 << one for one in dscps), priority))
    for priority, dscps in sorted(by_priority.items()):
        print("    DSCP                      : %s ==> priority : %d" % (ranges(dscps), priority))
    print("\n\n  PFC :\n    PFC priority bitmap       : %#x" % sum(1 << one for one in nic["nodrop"]))
    print("    PFC no-drop priorities    : %s\n" % ",".join(map(str, nic["nodrop"])))
    print("  Scheduling :\n    " + "-" * 44 + "\n    Priority  Scheduling  Bandwidth Rate-limit")
    print("              Type        (in %age) (in Gbps)\n    " + "-" * 44)
    for priority, share, limit in nic["scheduling"]:
        kind = ("DWRR", share, "N/A") if share != "0" else ("strict", "N/A", limit)
        print("    %-9s %-11s %-9s %s" % (priority, *kind))


DCQCN = {
    "ai-rate": "Rate increase in AI phase",
    "rate-increase-byte-count": "Rate increase byte count",
    "alpha-update-g": "Alpha update G value",
    "alpha-update-interval": "Alpha update interval",
    "hai-rate": "Rate increase in HAI phase",
    "initial-alpha-value": "Initial alpha value",
    "rate-reduce-monitor-period": "Rate reduce monitor period",
    "rate-increase-threshold": "Rate increase threshold",
    "rate-increase-interval": "Rate increase interval",
    "token-bucket-size": "Token bucket size",
    "cnp-dscp": "DSCP value used for CNP",
}


def ip(state):
    if "set" in ARGUMENTS:
        for name, nic in state["nics"].items():
            if option("dev") in (name, nic.get("master")):
                nic["mtu"] = int(option("mtu"))
        return
    names = [option("dev")] if "dev" in ARGUMENTS else list(state["nics"])
    links = []
    for number, name in enumerate(names, start=2):
        nic = state["nics"][name]
        link = {"ifindex": number, "ifname": name, "mtu": nic["mtu"], "altnames": [nic["name"]]}
        links.append({**link, "master": nic["master"]} if "master" in nic else link)
    print(json.dumps(links, separators=(",", ":")))


def ethtool(state):
    interface = ARGUMENTS[1]
    nic = state["nics"][interface]
    if ARGUMENTS[0] == "-A":
        nic["802.3x"] = [option("rx"), option("tx")]
        return
    print("Pause parameters for %s:\nAutonegotiate:\toff\nRX:\t\t%s\nTX:\t\t%s" % (interface, *nic["802.3x"]))


def systemctl(state):
    if ARGUMENTS[0] == "disable":
        state["lldpad"] = "inactive"
        return
    print("ActiveState=" + state["lldpad"])


def call():
    with open(os.path.join(HOME, "state"), "rb") as file:
        state = marshal.load(file)
    with open(os.path.join(HOME, "calls.log"), "a") as file:
        file.write(" ".join([NAME, *ARGUMENTS]) + "\n")
    for words in state["refused"]:
        if words in " ".join([NAME, *ARGUMENTS]):
            fail("Operation not permitted")
    for words in state["ignored"]:
        if words in " ".join([NAME, *ARGUMENTS]):
            return
    globals()[NAME](state)
    with open(os.path.join(HOME, "state"), "wb") as file:
        marshal.dump(state, file)


def answered(pid, path, arguments):
    """Exit code of a call, which a process of its own answers on the streams of the script."""
    global HOME, NAME, ARGUMENTS
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    HOME, NAME, ARGUMENTS = os.path.dirname(os.path.dirname(os.path.abspath(path))), os.path.basename(path), arguments
    for stream, kept in ((1, 3), (2, 2)):  # the first may still be the pipe of requests
        os.dup2(os.open("/proc/%s/fd/%d" % (pid, kept), os.O_WRONLY), stream)
    code = 1
    try:
        call()
        code = 0
    except SystemExit as end:
        code = end.code
    except Exception:  # noqa: BLE001
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)


def main():
    # Each pipe is open for both, so that it ends with neither a script nor an answer.
    requests, answers = (os.fdopen(os.open(path, os.O_RDWR), mode) for path, mode in zip(sys.argv[1:], "rw"))
    while True:
        pid, path, count = (requests.readline().rstrip("\n") for _ in range(3))
        arguments = [requests.readline().rstrip("\n") for _ in range(int(count))]
        print(answered(pid, path, arguments), file=answers, flush=True)


if __name__ == "__main__":
    main()
