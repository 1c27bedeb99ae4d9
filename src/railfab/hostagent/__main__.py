"""python -m railfab.hostagent: the process of `railfab agent`."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict

from railfab.errors import RailfabError
from railfab.hostagent.agent import Agent
from railfab.hostagent.document import HostDocument
from railfab.hostagent.host_tree import host_system
from railfab.hostagent.options import AgentOptions, AgentOutput, parsed
from railfab.hostagent.report import report_text
from railfab.hostagent.server import AgentServer
from railfab.hostagent.settings_file import read_settings
from railfab.process.listeners import bind_problem
from railfab.process.signals import stop_on_signal
from railfab.text.printable import json_text, printable

DONE, FOUND, CANNOT = 0, 1, 2
"""Exit codes: as wanted; something differs or is at fault; not possible."""


class PrintableLine(logging.Formatter):
    """A record on one line, with what cannot be printed escaped."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line."""
        return printable(super().formatMessage(record))


def main(words: Sequence[str] | None = None) -> int:
    """Run the agent until a signal, or once; the exit code."""
    options = parsed(words)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PrintableLine("railfab agent: %(message)s"))
    logging.basicConfig(level=logging.ERROR if options.once else logging.INFO, handlers=[handler])
    try:
        settings = read_settings(options.data)
        agent = Agent(
            settings,
            options.host,
            host_system(options.root),
            with_counters=options.standalone,
            state=options.state,
        )
        return _once(agent, options) if options.once else _serve(agent, options)
    except RailfabError as error:
        if options.once and options.output is AgentOutput.JSON:
            parts = {"message": str(error), "where": error.where, "problem": error.problem, "remedy": error.remedy}
            sys.stderr.write(json_text({"errors": [parts]}) + "\n")
        else:
            sys.stderr.write(f"railfab: {error}\n")
        return CANNOT


def _once(agent: Agent, options: AgentOptions) -> int:
    document = agent.check()
    if options.output is AgentOutput.METRICS:
        sys.stdout.write(agent.exposed().decode())
    else:
        is_json = options.output is AgentOutput.JSON
        sys.stdout.write(json_text(asdict(document), indent=1) + "\n" if is_json else report_text(document))
    sys.stdout.flush()
    return DONE if _is_as_wanted(document) else FOUND


def _is_as_wanted(document: HostDocument) -> bool:
    settings = [*document.settings, *(setting for nic in document.nics for setting in nic.settings)]
    return not document.faults and all(setting.ok for setting in settings)


def _serve(agent: Agent, options: AgentOptions) -> int:
    """Serve until a signal. Raises RailfabError."""
    try:
        server = AgentServer(options.listen, options.port, agent.exposed)
    except (OSError, OverflowError) as error:
        problem = bind_problem(error, options.port) if isinstance(error, OSError) else "no port"
        where = f"{options.listen}:{options.port}"
        remedy = "Choose another --listen or --port"
        raise RailfabError(where, f"cannot be listened on ({problem})", remedy) from None
    with server, stop_on_signal() as stop_requested:
        host, port = server.server_address[:2]
        logging.getLogger(__name__).info("metrics on http://%s:%d/metrics", host, port)
        for name, target in (("metrics", server.serve_forever), ("checks", agent.run)):
            threading.Thread(target=target, name=f"railfab-agent-{name}", daemon=True).start()
        stop_requested.wait()  # a tool that hangs holds up neither the metrics nor the end
        server.shutdown()
    return DONE


if __name__ == "__main__":
    sys.exit(main())
