"""The plugin goes where FiftyOne looks, as a copy or a link, and never over something else."""

from __future__ import annotations

import pytest

from fiftyone_hsd.dataset import install_plugin
from fiftyone_hsd.dataset.installing import PARTS, PLUGIN, plugin_source
from fiftyone_hsd.errors import InputError


def test_a_copy_holds_what_the_plugin_needs_and_replaces_an_older_one(tmp_path):
    target = install_plugin(into=tmp_path)
    assert target == tmp_path / PLUGIN
    assert {p.name for p in target.iterdir()} == set(PARTS)
    assert (target / "plugin" / "tabs" / "leaks.py").is_file()
    (target / "operators" / "gone.py").write_text("")
    install_plugin(into=tmp_path)
    assert not (target / "operators" / "gone.py").exists()


def test_a_link_leads_to_the_checkout_and_gives_way_to_a_copy(tmp_path):
    target = install_plugin(link=True, into=tmp_path)
    assert target.is_symlink()
    assert target.resolve() == plugin_source()
    install_plugin(into=tmp_path)
    assert not target.is_symlink()
    assert (plugin_source() / "fiftyone.yml").is_file()


def test_something_else_is_left_alone(tmp_path):
    other = tmp_path / PLUGIN
    other.mkdir(parents=True)
    (other / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="something else"):
        install_plugin(into=tmp_path)
    assert (other / "precious.txt").read_text() == "mine"
