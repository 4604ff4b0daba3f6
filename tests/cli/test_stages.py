"""What the command line says of DAGs that mix stages."""

MIXED = """\
nodes:
  gamma:
    set: {gamma: 2}
  fog_volume:
    parents: [gamma]
    set: {density: gamma.gamma / 40}
"""


def test_check_warns_of_a_scene_recipe_below_an_image_recipe(robustclevr, tmp_path):
    (tmp_path / "mixed.yaml").write_text(MIXED)
    finished = robustclevr("dag", "check", tmp_path / "mixed.yaml")
    assert finished.code == 0
    assert "mixed.yaml:4: 'fog_volume' is of the scene stage and lies below 'gamma'" in finished.err
    assert "valid; 2 nodes" in finished.out


def test_check_is_silent_on_shipped_dags(robustclevr):
    assert robustclevr("dag", "check", "chain-uniform").err == ""
