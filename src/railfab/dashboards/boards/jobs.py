"""Training jobs: their steps against the ideal, and stragglers."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS
from railfab.dashboards.board import GREEN, ORANGE, Board, Graph, Listing, Query, StateTimeline
from railfab.dashboards.selection import CHAIN, HOST_PORT, JOB, ON_RAIL, STEP, joined, rate, selector

OF_JOB = "{{fabric}} {{job_id}}"
BY_JOB = "by (fabric, job_id)"
STEP_SUM, STEP_COUNT = (f"training_step_duration_seconds_{suffix}" for suffix in ("sum", "count"))
IDEAL = f"rate({selector('training_step_ideal_seconds_total')}[1m])"
SUMS, COUNTS = (f"max {BY_JOB} (rate({selector(name)}[1m]))" for name in (STEP_SUM, STEP_COUNT))
CALL_SUM, CALL_COUNT = (f"training_collective_duration_seconds_{suffix}" for suffix in ("sum", "count"))
CALLS, CALLS_COUNT = (
    f"sum by (fabric, job_id, host, op) (rate({selector(name)}[1m]))" for name in (CALL_SUM, CALL_COUNT)
)

JOBS_BOARD = Board(
    name="jobs",
    title="Jobs and stragglers",
    question="Are the steps of the jobs as fast as they should be, and who holds them up?",
    reading=(
        "Steps above 1.2 times the ideal are slow. Bus bandwidth that fell with them: the network; look for the host"
        " whose port pauses or sends least. Bandwidth as before: computation or input of a host. Without an ideal,"
        " compare with the best minute of the job."
    ),
    variables=(*CHAIN, JOB),
    panels=(
        Graph(
            title="Step time",
            description="Mean duration of the steps of the last minute, and of the ideal ones: on the fabric as it is"
            " designed, without stragglers.",
            unit="s",
            queries=(
                Query(selector("job_id:training_step_duration_seconds:mean1m"), OF_JOB),
                Query(f"max {BY_JOB} ({IDEAL}) / on (fabric, job_id) ({COUNTS} > 0)", f"{OF_JOB} ideal"),
            ),
        ),
        Graph(
            title="Steps against the ideal",
            description="Duration of steps as multiple of the ideal one. 1 is as designed; above the line, slow.",
            limits=((LIMITS.step_time, ORANGE),),
            queries=(Query(f"{SUMS} / on (fabric, job_id) (max {BY_JOB} ({IDEAL}) > 0)", OF_JOB),),
        ),
        Graph(
            title="Steps against the best minute",
            description="Duration of steps as multiple of the best minute of the last hour, for jobs without an ideal.",
            limits=((LIMITS.step_time, ORANGE),),
            queries=(
                Query(
                    f"{selector('job_id:training_step_duration_seconds:mean1m')}"
                    f" / min_over_time({selector('job_id:training_step_duration_seconds:mean1m')}[1h])",
                    OF_JOB,
                ),
            ),
        ),
        Graph(
            title="Bus bandwidth",
            description="Bus bandwidth of the last collective operations, of the slowest and the fastest host.",
            unit="Bps",
            queries=tuple(
                Query(
                    f"{function} by (fabric, job_id, op)"
                    f" ({selector('training_collective_bus_bandwidth_bytes_per_second')})",
                    f"{OF_JOB} {{{{op}}}} {word}",
                )
                for function, word in (("min", "slowest"), ("max", "fastest"))
            ),
        ),
        Graph(
            title="Time in collectives",
            description="Mean duration of a collective operation, of the eight hosts for which it takes longest.",
            unit="s",
            queries=(
                Query(
                    f"topk(8, {CALLS} / on (fabric, job_id, host, op) ({CALLS_COUNT} > 0))",
                    f"{OF_JOB} {{{{host}}}} {{{{op}}}}",
                ),
            ),
        ),
        Graph(
            title="Present step",
            description="Share of the computations and transfers of the present step that have ended. A flat line: the"
            " job waits.",
            unit="percentunit",
            at_most=1,
            queries=(Query(selector("training_step_progress_ratio"), OF_JOB),),
        ),
        Graph(
            title="Hosts that pause the fabric",
            description="Pause frames from the eight hosts that send most: a straggler behind its NIC.",
            unit="cps",
            queries=(
                Query(
                    "topk(8, sum by (fabric, peer_device) ("
                    + joined(
                        f"sum by (fabric, device, interface) ({rate('fabric_pfc_receive_frames_total')})",
                        "peer_device",
                        HOST_PORT,
                        ON_RAIL,
                    )
                    + "))",
                    "{{fabric}} {{peer_device}}",
                ),
            ),
        ),
        Graph(
            title="Hosts that send least",
            description="Traffic of the eight hosts that send least. In a ring all hosts send the same; a straggler is"
            " behind.",
            unit="bps",
            queries=(
                Query(
                    "bottomk(8, 8 * sum by (fabric, peer_device) ("
                    + joined(rate("fabric_interface_receive_bytes_total"), "peer_device", HOST_PORT, ON_RAIL)
                    + "))",
                    "{{fabric}} {{peer_device}}",
                ),
            ),
        ),
        StateTimeline(
            title="Running jobs",
            description="Whether each job has steps before it.",
            width=8,
            queries=(Query(f"max {BY_JOB} ({selector('training_job_running')})", OF_JOB),),
            states={"0": ("ended", ORANGE), "1": ("running", GREEN)},
        ),
        Graph(
            title="Steps",
            description="Steps that end in a second.",
            unit="ops",
            queries=(Query(f"max {BY_JOB} (rate({selector(STEP_COUNT)}[{STEP}]))", OF_JOB),),
        ),
        Listing(
            title="Jobs",
            description="Steps of the last minute, their mean duration and the ideal one.",
            queries=(
                Query(f"max {BY_JOB} ({selector('training_job_running')})"),
                Query(f"max {BY_JOB} ({selector('job_id:training_step_duration_seconds:mean1m')})"),
                Query(f"max {BY_JOB} ({selector('training_step_present_ideal_seconds')})"),
                Query(f"max {BY_JOB} ({selector('training_step_present_elapsed_seconds')})"),
            ),
            columns={
                "fabric": "Fabric",
                "job_id": "Job",
                "Value #A": "State",
                "Value #B": "Step",
                "Value #C": "Ideal step",
                "Value #D": "Present step",
            },
            states={"State": {"0": ("ended", ORANGE), "1": ("running", GREEN)}},
            units={"Step": "s", "Ideal step": "s", "Present step": "s"},
            first="Job",
            width=16,
        ),
    ),
    alerts=("FabricJobSlow", "FabricJobStalled", "FabricHostPauses"),
    next={
        "rail": "a host or rail sends less",
        "congestion": "bandwidth fell under marks, pauses or drops",
        "balance": "bandwidth fell and some links are full",
        "fabric": "the fabric has alerts",
    },
)
