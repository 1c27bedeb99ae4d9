"""The laws of a platform's session, held against its own virtual switches: a class of tests to subclass.

from railfab.testing.sessions import SessionLaws

class TestToySession(SessionLaws):
    name = "toy"
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import ClassVar

import pytest
import yaml

from railfab.device import DeviceModel, Port
from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused, RailfabError, UnsupportedFeature
from railfab.fabric.design import Design, design
from railfab.fabric.impact import differences_of
from railfab.platforms import ChangeName, Platform, Session, Staged, Support, Verb, platform
from railfab.platforms.admission import support_of
from railfab.twin import Twin

LONG_S, SHORT_S = 120, 2
REVERTED_WITHIN_S = 30.0


class SessionLaws:
    """The laws of the session of one platform. name: of an installed platform that the twin serves."""

    name: ClassVar[str]

    @property
    def platform(self) -> Platform:
        return platform(self.name)

    @pytest.fixture(scope="class")
    @classmethod
    def fabric(cls, tmp_path_factory: pytest.TempPathFactory) -> Design:
        """Two rail switches and two spines of the platform."""
        path = tmp_path_factory.mktemp("laws") / "intent.yml"
        path.write_text(yaml.safe_dump(_intent(platform(cls.name))))
        return design(path)

    @pytest.fixture(scope="class")
    @classmethod
    def twin(cls, fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
        with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0) as running:
            yield running

    @pytest.fixture
    def model(self, fabric: Design) -> DeviceModel:
        return next(iter(fabric.models.values()))

    @pytest.fixture
    def switch(self, twin: Twin, model: DeviceModel) -> Endpoint:
        """A switch that runs the configuration of the model."""
        endpoint = twin.endpoints.by_name()[model.name]
        with self.opened(endpoint) as session:
            staged = session.stage(self.text(model))
            if staged.diff:
                session.commit(staged, _change("begin"), LONG_S)
                session.confirm(_change("begin"))
        return endpoint

    @pytest.fixture
    def other(self, model: DeviceModel) -> str:
        """Another configuration of the switch."""
        first, *rest = model.interfaces
        return self.text(replace(model, interfaces=(replace(first, description="another one"), *rest)))

    def text(self, model: DeviceModel) -> str:
        return self.platform.text(self.platform.render(model))

    def scoped(self, configuration: str, model: DeviceModel) -> str:
        """A configuration without what is the hardware's and the operator's."""
        scoped = self.platform.scoped
        return configuration if scoped is None else scoped(configuration, self.text(model))

    @contextmanager
    def opened(self, endpoint: Endpoint) -> Iterator[Session]:
        """A new session, as a new process would have it."""
        with self.platform.session_factory(endpoint.name)(endpoint, read_credentials(endpoint)) as session:
            yield session

    def running(self, switch: Endpoint) -> tuple[str, ChangeName | None]:
        """The running configuration, and the change that is pending."""
        with self.opened(switch) as session:
            found = session.running()
        return found.text, found.pending.change if found.pending else None

    def committed(self, switch: Endpoint, text: str, change: ChangeName, within_s: int = LONG_S) -> Staged:
        """Commit a configuration in a session of its own, which ends without a confirmation."""
        with self.opened(switch) as session:
            staged = session.stage(text)
            session.commit(staged, change, within_s)
        return staged

    def test_pushing_twice_changes_nothing(self, switch: Endpoint, model: DeviceModel) -> None:
        with self.opened(switch) as session:
            staged = session.stage(self.text(model))
            assert staged.diff == ""
            assert self.platform.parse(self.scoped(staged.former, model)) == model
            assert session.running().pending is None

    def test_a_switch_names_itself(self, switch: Endpoint) -> None:
        with self.opened(switch) as session:
            assert session.running().identity.hostname == switch.name

    def test_staging_shows_the_differences_and_changes_nothing(self, switch: Endpoint, other: str) -> None:
        before = self.running(switch)
        with self.opened(switch) as session:
            staged = session.stage(other)
        assert "another one" in staged.diff
        assert {each.code for each in differences_of(self.platform, staged.former, staged.text)} == {"description"}
        assert self.running(switch) == before

    def test_any_later_session_confirms_a_change(self, switch: Endpoint, other: str) -> None:
        change = _change("confirmed")
        self.committed(switch, other, change)
        assert self.running(switch)[1] == change
        with self.opened(switch) as session:
            session.confirm(change)
            session.confirm(change)
        text, pending = self.running(switch)
        assert pending is None
        assert "another one" in text

    def test_any_later_session_reverts_a_change(self, switch: Endpoint, other: str) -> None:
        before, change = self.running(switch), _change("reverted")
        self.committed(switch, other, change)
        assert self.running(switch) != before
        with self.opened(switch) as session:
            session.revert(change)
            session.revert(change)
        assert self.running(switch) == before

    def test_the_switch_reverts_a_change_that_nobody_confirms(self, switch: Endpoint, other: str) -> None:
        before, change = self.running(switch), _change("forgotten")
        self.committed(switch, other, change, SHORT_S)
        until_s = time.monotonic() + REVERTED_WITHIN_S
        while self.running(switch) != before:
            assert time.monotonic() < until_s, "it was not reverted in time"
            time.sleep(0.2)
        with self.opened(switch) as session, pytest.raises(CommitRefused):
            session.confirm(change)

    def test_a_second_change_waits_for_the_first(self, switch: Endpoint, model: DeviceModel, other: str) -> None:
        first = _change("first")
        self.committed(switch, other, first)
        with pytest.raises(CommitRefused):
            self.committed(switch, self.text(model), _change("second"))
        assert self.running(switch)[1] == first
        with self.opened(switch) as session:
            session.revert(first)

    def test_a_review_that_is_out_of_date_is_not_committed(self, switch: Endpoint, other: str) -> None:
        with self.opened(switch) as session:
            staged = session.stage(other)
            self.committed(switch, other, _change("between"))
            session.confirm(_change("between"))
            with pytest.raises(CommitRefused):
                session.commit(staged, _change("late"), LONG_S)

    def test_a_candidate_that_stays_on_the_switch_is_committed_as_a_new_one(
        self, switch: Endpoint, model: DeviceModel, other: str
    ) -> None:
        change, again = _change("stays"), _change("again")
        with self.opened(switch) as session:
            staged = session.stage(other, change)
            assert session.running().pending is None
            session.commit(staged, change, LONG_S)
            session.confirm(change)
        committed = self.running(switch)
        self.deployed(switch, self.text(model), _change("returned"))
        with self.opened(switch) as session:
            staged = session.stage(other)
        with self.opened(switch) as session:
            session.commit(staged, again, LONG_S)
            session.confirm(again)
        assert self.running(switch) == committed

    def test_a_candidate_that_is_not_committed_leaves_nothing_on_the_switch(
        self, switch: Endpoint, other: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        before = self.running(switch)
        for _ in range(7):
            session = self.platform.session_factory(switch.name)(switch, read_credentials(switch)).__enter__()
            assert session.stage(other, _change("declined")).diff
            closer = Thread(target=session.__exit__, args=(None, None, None))
            closer.start()
            closer.join()
        assert self.running(switch) == before
        caplog.clear()
        self.deployed(switch, other, _change("accepted"))
        warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
        assert [record.message for record in warnings if record.name.startswith("railfab")] == []

    def test_a_candidate_stays_for_its_configuration_alone(
        self, switch: Endpoint, model: DeviceModel, other: str
    ) -> None:
        first, *rest = model.interfaces
        third = self.text(replace(model, interfaces=(replace(first, description="third one"), *rest)))
        with self.opened(switch) as session:
            staged = session.stage(other, _change("late"))
            try:
                self.deployed(switch, third, _change("between"))
            except CommitRefused:
                return  # the switch lets nobody else change it
            with pytest.raises(CommitRefused):
                session.commit(staged, _change("late"), LONG_S)
        assert "third one" in self.running(switch)[0]

    def test_a_configuration_that_is_not_valid_leaves_the_switch_as_it_is(self, switch: Endpoint) -> None:
        before = self.running(switch)
        with pytest.raises(RailfabError):
            self.committed(switch, "this is no configuration\n", _change("invalid"))
        assert self.running(switch) == before

    def test_the_live_state_has_the_ports_and_the_sessions(self, switch: Endpoint, model: DeviceModel) -> None:
        with self.opened(switch) as session:
            state = session.observe()
        ports = {interface.name for interface in model.interfaces if isinstance(interface, Port)}
        assert ports <= {found.name for found in state.interfaces}
        assert {(found.network_instance, found.peer) for found in state.sessions} == {
            (found.network_instance, found.peer) for found in model.neighbors
        }

    def test_the_state_is_read_beside_a_candidate_which_stays(self, switch: Endpoint, other: str) -> None:
        change = _change("observed")
        with self.opened(switch) as session:
            staged = session.stage(other, change)
            beside = session.observe(resolved=False)
            session.commit(staged, change, LONG_S)
            session.confirm(change)
            alone = session.observe()
        assert {port.resolved_addresses for port in beside.interfaces} == {None}
        assert [port.name for port in beside.interfaces] == [port.name for port in alone.interfaces]
        with self.opened(switch) as session:
            assert session.stage(other).diff == ""

    def drained(self, switch: Endpoint) -> tuple[bool, bool]:
        """Whether the running configuration drains the switch, and whether a verb made it so."""
        with self.opened(switch) as session:
            running = session.running()
        return self.platform.parse(running.text).drain, running.drained

    def deployed(self, switch: Endpoint, text: str, change: ChangeName) -> Staged:
        """Commit and confirm a configuration."""
        staged = self.committed(switch, text, change)
        with self.opened(switch) as session:
            session.confirm(change)
        return staged

    @pytest.fixture
    def drained_switch(self, switch: Endpoint, model: DeviceModel) -> Iterator[Endpoint]:
        """A switch that a verb has drained; none on a platform that has no such verb, and then reports no drain."""
        with self.opened(switch) as session:
            try:
                session.operate(Verb.DRAIN)
            except UnsupportedFeature:
                assert not session.running().drained
                pytest.skip(f"{self.name} has no verb that drains")
        yield switch
        with self.opened(switch) as session:
            session.operate(Verb.UNDRAIN)
            assert session.stage(self.text(model)).diff == ""

    def test_a_drain_by_a_verb_is_in_effect_and_reported_until_it_ends(self, drained_switch: Endpoint) -> None:
        assert self.drained(drained_switch) == (True, True)
        with self.opened(drained_switch) as session:
            session.operate(Verb.DRAIN)
        assert self.drained(drained_switch) == (True, True)
        for _ in range(2):
            with self.opened(drained_switch) as session:
                session.operate(Verb.UNDRAIN)
            assert self.drained(drained_switch) == (False, False)

    def test_a_drain_by_a_verb_is_no_difference_and_stays_with_another_configuration(
        self, drained_switch: Endpoint, model: DeviceModel, other: str
    ) -> None:
        with self.opened(drained_switch) as session:
            staged = session.stage(self.text(model))
        assert staged.diff == ""
        assert self.platform.parse(staged.text).drain
        kept = self.deployed(drained_switch, other, _change("kept"))
        assert "another one" in kept.diff
        assert not self.platform.parse(kept.former).drain, "a rollback after the end of the drain would drain again"
        assert self.drained(drained_switch) == (True, True)
        self.deployed(drained_switch, self.text(model), _change("returned"))
        assert self.drained(drained_switch) == (True, True)

    def test_a_drain_by_the_configuration_is_none_by_a_verb(self, switch: Endpoint, model: DeviceModel) -> None:
        if support_of(self.platform.capabilities, "drain") is not Support.YES:
            pytest.skip(f"{self.name} has no configuration that drains")
        self.deployed(switch, self.text(replace(model, drain=True)), _change("drained"))
        assert self.drained(switch) == (True, False)
        self.deployed(switch, self.text(model), _change("ended"))
        assert self.drained(switch) == (False, False)

    def test_a_switch_with_a_pending_change_is_not_drained(self, switch: Endpoint, other: str) -> None:
        change = _change("pending")
        self.committed(switch, other, change)
        with self.opened(switch) as session:
            with pytest.raises((CommitRefused, UnsupportedFeature)):
                session.operate(Verb.DRAIN)
            session.revert(change)
        assert self.drained(switch) == (False, False)


def _change(deploy: str) -> ChangeName:
    return ChangeName(deploy=f"laws-{deploy}", user="tester", host="here")


def _intent(system: Platform) -> dict[str, object]:
    """A fabric of a switch model that the platform runs on, with ports named as the platform names them."""
    cage = next(template for template in system.lab.interfaces.templates if "{lane}" not in template)
    model = {
        "vendor": "nobody",
        "silicon": "none",
        "cages": 16,
        "speeds_gbps": [100],
        "buffer_bytes": 16_000_000,
        "names": {system.name: {"cage": cage}},
    }
    return {
        "version": 1,
        "fabric": "laws",
        "profile": {"control_plane": "ebgp", "lossless": False},
        "hosts": {"gpus": 2, "rate_gbps": 100},
        "backend": {
            "segments": {"hosts": 2, "rail_switches": 2, "model": "laws-16"},
            "spines": {"count": 2, "rate_gbps": 100, "model": "laws-16"},
        },
        "switches": {"laws-16": model},
    }
