"""What a stand-in for nvidia-smi prints, read."""

import pytest

from robustclevr.run.nvidia import card_at, kernel_for, nvidia_cards

KERNELS = ("compute_75", "sm_120", "sm_70", "sm_75", "sm_86", "sm_89")


@pytest.fixture
def tool(tmp_path):
    def write(body):
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return write


def test_cards_are_read_and_found_by_their_place_on_the_bus(tool):
    cards = nvidia_cards(
        tool(
            "echo '00000000:C1:00.0, GPU-1234, NVIDIA H200, 570.86.15, 143771, 9.0'\n"
            "echo '00000001:02:00.0, GPU-5678, NVIDIA RTX A6000, 570.86.15, 49140, 8.6'"
        )
    )
    assert [card.uuid for card in cards] == ["GPU-1234", "GPU-5678"]
    card = card_at("0000:c1:00", cards)
    assert card is not None
    assert (card.name, card.driver, card.memory_mib) == ("NVIDIA H200", "570.86.15", 143771)
    assert card.capability == "9.0"
    assert card_at("0001:02:00", cards) == cards[1]
    assert card_at("", cards) is None


def test_an_old_driver_does_not_know_compute_capabilities(tool):
    (card,) = nvidia_cards(
        tool(
            'case "$1" in *compute_cap*) exit 2;; esac\n'
            "echo '00000000:C1:00.0, GPU-1, Tesla K80, 470.82, [N/A]'"
        )
    )
    assert (card.capability, card.memory_mib) == ("", 0)
    (card,) = nvidia_cards(tool("echo '00000000:C1:00.0, GPU-1, GB10, 580.1, [N/A], [N/A]'"))
    assert (card.capability, card.memory_mib) == ("", 0)


def test_nothing_is_known_where_the_tool_is_missing_or_fails(tool, tmp_path):
    assert nvidia_cards(str(tmp_path / "none")) == ()
    assert nvidia_cards(tool("echo 'NVIDIA-SMI has failed'; exit 9")) == ()
    assert nvidia_cards(tool("echo 'No devices were found'")) == ()


@pytest.mark.parametrize(
    ("capability", "kernel"),
    [
        ("8.9", "sm_89"),
        ("8.7", "sm_86"),  # a later minor version of the same major runs its code
        ("8.0", ""),  # A100
        ("9.0", ""),  # H100, H200
        ("10.0", ""),  # B200
        ("12.1", "sm_120"),
        ("7.2", "sm_70"),
        ("", ""),
    ],
)
def test_which_precompiled_kernel_a_card_runs(capability, kernel):
    assert kernel_for(capability, KERNELS) == kernel
