"""`pybpe.ray` on a cluster of two nodes gives what one process gives.

The cluster, and Ray with its threads and warnings, live in a process of their own:
`ray_cluster.py`, which does the comparing. It is one test because a cluster takes some
ten seconds to start, whatever is done on it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cli_runs import environment

import pybpe

SCRIPT = Path(__file__).with_name("ray_cluster.py")


@pytest.mark.slow
def test_a_cluster_of_two_nodes() -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("needs Ray: pip install 'ray[data]'")
    # Not tmp_path: Ray's sockets are in there, whose names must be short.
    with tempfile.TemporaryDirectory(prefix="pybpe-ray-") as folder:
        done = subprocess.run(
            [sys.executable, str(SCRIPT), folder],
            capture_output=True,
            text=True,
            env=environment(),
            timeout=600,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    assert len(told) > 25, done.stdout
    for what in (
        "same: nodes that work",
        "same: counts, to the byte",
        "same: fingerprint, lowest",
        "same: fingerprint, first",
        "same: ids",
        "same: training after that",
    ):
        assert any(line.endswith(what) for line in told), what


def test_without_ray_its_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text(
        "raise ModuleNotFoundError('no Ray', name='ray')", encoding="utf-8"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(pybpe.__file__).parent.parent)])
    done = subprocess.run(
        [sys.executable, "-c", "import pybpe.ray"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: pybpe.ray needs Ray Data (")
    assert last.endswith("pip install 'pybpe[ray]'")
