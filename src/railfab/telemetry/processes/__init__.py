"""Several collectors as processes of one command: started, started again when they end, and served at one address.

with Processes(command, ["0", "1"], stop_requested) as processes:
    with MetricsServer(ProcessMetrics(processes), processes, further=pages_of(processes)):
        processes.start()
        stop_requested.wait()
"""

from railfab.telemetry.processes.asking import Asked, ask
from railfab.telemetry.processes.child import CollectorChild
from railfab.telemetry.processes.pages import ProcessMetrics, pages_of
from railfab.telemetry.processes.supervisor import Processes

__all__ = ["Asked", "CollectorChild", "ProcessMetrics", "Processes", "ask", "pages_of"]
