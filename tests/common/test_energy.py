"""Energy, by counters that are made here: this machine may have none. What cannot be read is not reported."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from ranktrial.common import timing
from ranktrial.common.timing import Packages, Seconds, card, card_joules, clock, write_timing


def package(folder, number, used, most=999_999_999):
    place = folder / f"intel-rapl:{number}"
    place.mkdir(exist_ok=True)
    (place / "max_energy_range_uj").write_text(f"{most}\n")
    (place / "energy_uj").write_text(f"{used}\n")


def test_packages_are_summed_and_a_counter_that_begins_anew_goes_on(tmp_path):
    package(tmp_path, 0, 999_000_000)
    package(tmp_path, 1, 5_000_000)
    part = tmp_path / "intel-rapl:0:0"  # the cores of package 0, whose joules are among its own
    part.mkdir()
    (part / "energy_uj").write_text("7\n")
    packages = Packages(tmp_path)
    assert packages.joules() == 0
    package(tmp_path, 0, 2_000_000)  # 1 J to the end, 2 J from the start
    package(tmp_path, 1, 9_500_000)
    assert packages.joules() == pytest.approx(3 + 4.5)
    assert packages.joules() == pytest.approx(3 + 4.5)


def test_no_counters_and_such_as_may_not_be_read_give_none(tmp_path):
    assert Packages(tmp_path / "none").joules() is None
    package(tmp_path, 0, "")
    assert Packages(tmp_path).joules() is None
    package(tmp_path, 0, 5)
    packages = Packages(tmp_path)
    assert packages.joules() == 0
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    assert packages.joules() is None and packages.joules() is None


def test_a_card_is_asked_by_its_own_name_and_an_old_one_tells_nothing(monkeypatch, request):
    request.addfinalizer(card.cache_clear)
    assert card_joules() is None  # no card here, or torch is not loaded
    asked = []
    cuda = SimpleNamespace(is_available=lambda: True, get_device_properties=lambda _: SimpleNamespace(uuid="a-b"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    nvml = ModuleType("pynvml")
    nvml.nvmlInit = lambda: asked.append("started")
    nvml.nvmlDeviceGetHandleByUUID = lambda name: asked.append(name)
    nvml.nvmlDeviceGetTotalEnergyConsumption = lambda card: 12_500
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert [card_joules(), card_joules()] == [12.5, 12.5] and asked == ["started", "GPU-a-b"]  # found once
    del nvml.nvmlDeviceGetTotalEnergyConsumption
    assert card_joules() is None


def test_joules_go_with_their_seconds():
    span = Seconds(5.0, {"processor": 30.0, "gpu": 9.0}) - Seconds(3.0, {"processor": 10.0, "gpu": 2.0})
    assert span == 2.0 and span.joules == {"processor": 20.0, "gpu": 7.0}
    total = 0.0
    total += span
    total += span
    assert total == 4.0 and total.joules == {"processor": 40.0, "gpu": 14.0}
    assert (Seconds(0.0) + span).joules == span.joules
    assert (span + 1.0).joules == {} == (1.0 + span).joules  # of a second nothing is known
    assert (span - Seconds(1.0, {"gpu": 1.0})).joules == {"gpu": 6.0}


def test_a_timing_has_them_where_there_are_any(tmp_path, monkeypatch):
    package(tmp_path, 0, 1_000_000)
    monkeypatch.setattr(timing, "_packages", Packages(tmp_path))
    monkeypatch.setattr(timing, "card_joules", lambda: None)
    start = clock()
    package(tmp_path, 0, 4_000_000)
    write_timing(tmp_path / "timing.json", seconds=clock() - start)
    reported = json.loads((tmp_path / "timing.json").read_text())
    assert reported["energy_joules"] == {"processor": 3.0} and reported["seconds"] < 60
    monkeypatch.setattr(timing, "_packages", Packages(tmp_path / "none"))
    start = clock()
    write_timing(tmp_path / "timing.json", seconds=clock() - start)
    assert "energy_joules" not in json.loads((tmp_path / "timing.json").read_text())


def test_the_time_of_one_query_is_measured_without_reading_counters(monkeypatch):
    monkeypatch.setattr(timing, "joules", lambda: pytest.fail("takes a while"))
    assert len(timing.single_seconds(len, ["a", "b"])) == 2


def test_the_first_reading_of_the_counters_is_in_no_time(monkeypatch):
    """It starts NVML, which takes long."""
    happened = []
    monkeypatch.setattr(timing, "_begun", [])
    monkeypatch.setattr(timing, "joules", lambda: happened.append("counters") or {})
    monkeypatch.setattr(timing, "now", lambda: happened.append("time") or 0.0)
    timing.clock()
    timing.clock()
    assert happened == ["counters", "time", "counters", "time", "counters"]
