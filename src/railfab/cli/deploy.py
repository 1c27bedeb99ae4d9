"""deploy: bring switches to the intent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.acceptance import AcceptOrCutOption, design_codes
from railfab.cli.change import ChangeRun
from railfab.cli.change_options import (
    ChangeOptions,
    FullOption,
    NoDrainOption,
    NoGatesOption,
    PauseOption,
    PlanOption,
    Revert,
    RevertOption,
    StatOption,
    TelemetryOption,
    Waves,
    WavesOption,
    YesOption,
)
from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    refuse,
    stop_at_errors,
    uncollected,
)
from railfab.cli.completion import CUT
from railfab.cli.configuration_files import configurations_of
from railfab.cli.junit import JunitOption, JunitReport
from railfab.endpoints import Endpoints
from railfab.fabric import Design, design, session_endpoints

SaveOption = Annotated[
    Path | None, typer.Option("-o", metavar="FILE", help="With --plan: save the plan.", show_default=False)
]
ApplyOption = Annotated[
    Path | None,
    typer.Option("--apply", metavar="FILE", help="Apply a saved plan, and nothing else.", show_default=False),
]
ConfigsOption = Annotated[
    Path | None,
    typer.Option(
        "--configs", metavar="DIR", help="Deploy these files, instead of what the intent renders.", show_default=False
    ),
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", metavar="", help="Continue the last deploy that was interrupted or stopped.")
]
AbortOption = Annotated[
    bool, typer.Option("--abort", metavar="", help="Return its switches to what they ran before that deploy.")
]
OF_A_NEW_DEPLOY = {
    "limit": "--limit",
    "configs": "--configs",
    "plan": "--plan",
    "save": "-o",
    "apply": "--apply",
    "waves": "--waves",
    "no_drain": "--no-drain",
    "stat": "--stat",
    "full": "--full",
}
"""Options of a new deploy, which one that is continued or aborted has from its plan, by parameter."""


def deploy(
    context: typer.Context,
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    configs: ConfigsOption = None,
    plan: PlanOption = False,
    save: SaveOption = None,
    apply: ApplyOption = None,
    resume: ResumeOption = False,
    abort: AbortOption = False,
    yes: YesOption = False,
    waves: WavesOption = Waves.ON,
    no_drain: NoDrainOption = False,
    no_gates: NoGatesOption = False,
    telemetry: TelemetryOption = None,
    revert: RevertOption = Revert.WAVE,
    pause_after: PauseOption = None,
    stat: StatOption = False,
    full: FullOption = False,
    accept: AcceptOrCutOption = None,
    junit: JunitOption = None,
    state: StateOption = STATE_DEFAULT,
    output: OutputOption = Output.TABLE,
) -> None:
    """Bring switches to the intent, in waves: drain, change, read back, check; what fails is rolled back."""
    if resume or abort:
        word, more = ("--abort", {"resume": "--resume"}) if abort else ("--resume", {})
        refuse(given_parameters(context), OF_A_NEW_DEPLOY | more, f"{word} has its plan: leave out")
    file = JunitReport("deploy", junit)
    options = ChangeOptions(
        plan=plan,
        yes=yes,
        stat=stat,
        full=full,
        output=output,
        waves=waves,
        no_drain=no_drain,
        no_gates=no_gates,
        telemetry=telemetry,
        revert=revert,
        pause_after=pause_after,
        accept_cut=CUT in (accept or ()),
        save=save,
        saved=apply,
        junit=file,
    )
    with uncollected():
        fabric = design(intent)
        if not (resume or abort):
            stop_at_errors(fabric, design_codes(accept), output)
        endpoints = session_endpoints(fabric, on, state, limit)
        texts = {} if resume or abort else _texts(fabric, endpoints, configs)
    run = ChangeRun(fabric, endpoints, state, options, from_files=configs is not None)
    if resume:
        run.resume()
    elif abort:
        run.abort()
    else:
        run.change(texts, "deploy")


def _texts(fabric: Design, endpoints: Endpoints, configs: Path | None) -> Mapping[str, str]:
    """The configurations to deploy: of files, or as rendered."""
    if configs is None:
        return fabric.texts
    return configurations_of(fabric, configs, [node.name for node in endpoints.nodes])
