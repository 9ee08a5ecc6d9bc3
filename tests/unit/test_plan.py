"""Cells become jobs, with keys, edges and reasons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.plan_samples import ASM, DEFAULT, IMAGES, SOURCE, TOOLCHAIN, FixedScripts, cell

from crossmatrix.plan import Decision, JobKind, decide, plan
from crossmatrix.plan.keys import changed, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crossmatrix.catalog import Cell

UNSET = replace(DEFAULT, name="unset", environment=(("OPENSSL_armcap", None),))
EMPTY = replace(DEFAULT, name="empty", environment=(("OPENSSL_armcap", ""),))


@dataclass
class Memory:
    """What earlier runs left, scripted."""

    results: dict[str, bool] = field(default_factory=dict)
    inputs: dict[tuple[JobKind, str], dict[str, str]] = field(default_factory=dict)
    trees: set[str] = field(default_factory=set)
    doubts: dict[str, str] = field(default_factory=dict)

    def has_result(self, key: str) -> bool:
        """Whether there is one."""
        return key in self.results

    def failed(self, key: str) -> bool:
        """Whether it failed."""
        return not self.results.get(key, True)

    def last_inputs(self, kind: JobKind, job_id: str) -> Mapping[str, str] | None:
        """Give the inputs of the last time."""
        return self.inputs.get((kind, job_id))

    def doubt(self, key: str) -> str:
        """Say why it is not used."""
        return self.doubts.get(key, "")

    def has_tree(self, key: str) -> bool:
        """Whether the tree is there."""
        return key in self.trees


def decisions(cells: tuple[Cell, ...], memory: Memory, *, fresh: bool = False) -> tuple[Decision, ...]:
    """Plan and decide."""
    return decide(plan(cells, IMAGES, FixedScripts()), memory, fresh=fresh)


def remembered(cells: tuple[Cell, ...]) -> Memory:
    """Give the memory after all jobs of these cells have run."""
    jobs = plan(cells, IMAGES, FixedScripts()).jobs
    return Memory(
        results={job.key: True for job in jobs},
        inputs={(job.kind, job.id): dict(job.inputs) for job in jobs},
        trees={job.key for job in jobs if job.kind is JobKind.BUILD},
    )


def test_cells_that_differ_only_in_how_they_run_share_one_build() -> None:
    """Two profiles of one build make one build job and two run jobs that need it."""
    jobs = plan((cell(), cell(UNSET)), IMAGES, FixedScripts()).jobs
    assert [job.kind for job in jobs] == [JobKind.BUILD, JobKind.RUN, JobKind.RUN]
    assert all(job.needs == (jobs[0].key,) for job in jobs[1:])


def test_unset_and_empty_variables_make_different_keys() -> None:
    """An empty capability variable switches everything off, an unset one nothing."""
    one, other = plan((cell(UNSET), cell(EMPTY)), IMAGES, FixedScripts()).jobs[1:]
    assert one.key != other.key


@pytest.mark.parametrize(
    "changes",
    [
        {"source": replace(SOURCE, digest="b" * 64)},
        {"source": replace(SOURCE, version="3.10.2+p12345678")},
        {"variant": replace(ASM, options=())},
        {"toolchain": replace(TOOLCHAIN, name="gcc-13")},
        {"toolchain": replace(TOOLCHAIN, tools=(replace(TOOLCHAIN.tools[0], flags=("-O3",)),))},
    ],
)
def test_whatever_decides_a_build_is_in_its_key_and_in_its_runs_keys(changes: dict[str, object]) -> None:
    """A change of source, version, options, toolchain or flags changes both keys."""
    before = plan((cell(),), IMAGES, FixedScripts()).jobs
    after = plan((cell(DEFAULT, **changes),), IMAGES, FixedScripts()).jobs
    assert all(one.key != other.key for one, other in zip(before, after, strict=True))


def test_what_was_installed_in_an_image_is_in_the_keys() -> None:
    """Another compiler package changes the build's key, another emulator package the run's alone."""
    before = plan((cell(),), IMAGES, FixedScripts()).jobs
    moved = {**IMAGES, "qemu-7.2": replace(IMAGES["qemu-7.2"], contents="d" * 64)}
    after = plan((cell(),), moved, FixedScripts()).jobs
    assert before[0].key == after[0].key
    assert before[1].key != after[1].key


def test_nothing_is_run_when_nothing_changed() -> None:
    """With all results kept, no job runs, even when the build's tree has been removed."""
    memory = remembered((cell(),))
    memory.trees.clear()
    assert [item.run for item in decisions((cell(),), memory)] == [False, False]


def test_a_missing_tree_is_built_again_when_a_run_needs_it() -> None:
    """A new profile of a build whose tree is gone runs the build again, and says why."""
    memory = remembered((cell(),))
    memory.trees.clear()
    build, old, new = decisions((cell(), cell(UNSET)), memory)
    assert (build.run, old.run, new.run) == (True, False, True)
    assert "no longer whole on the engine" in build.reason


def test_a_failed_build_is_not_made_again_for_its_missing_tree() -> None:
    """The kept failure decides the new cell."""
    memory = remembered((cell(),))
    memory.trees.clear()
    memory.results = {plan((cell(),), IMAGES, FixedScripts()).jobs[0].key: False}
    assert not decisions((cell(),), memory)[0].run


def test_a_rerun_says_what_changed() -> None:
    """The reason names the input, with both values where they are short."""
    memory = remembered((cell(),))
    build, run = decisions((cell(variant=replace(ASM, options=())),), memory)
    assert build.reason == "changed: variant (asm: --enable-arm64-crypto -> asm)"
    assert run.reason.startswith("its build is made again")


def test_another_tier_is_the_whole_reason() -> None:
    """To measure what was tested before has steps of its own, which are no further change."""
    before = {"tier": "full: ", "steps": "1" * 64, "profile": "default"}
    after = (("tier", "bench: "), ("steps", "2" * 64), ("profile", "default"))
    assert changed(before, after) == "changed: tier (full -> bench)"
    assert changed(before, (*after[1:], ("tier", "full: aes"))) == "changed: tier (full -> full: aes), steps"
    assert changed({**before, "profile": "other"}, after) == "changed: tier (full -> bench), profile (other -> default)"


def test_a_result_that_is_not_used_again_says_why() -> None:
    """Nothing changed, and yet the job runs: the reason is what was wrong with its last result."""
    memory = remembered((cell(),))
    jobs = plan((cell(),), IMAGES, FixedScripts()).jobs
    memory.results.clear()
    memory.doubts = {jobs[0].key: "last time: build stopped after 96 s, in stage build"}
    assert [item.reason for item in decide(plan((cell(),), IMAGES, FixedScripts()), memory)] == [
        "last time: build stopped after 96 s, in stage build",
        "its last result was not kept",
    ]


def test_packages_that_cannot_be_seen_are_no_change() -> None:
    """Without an engine nobody knows what is in an image; a change that can be seen is still named."""
    memory = remembered((cell(),))
    unseen = {name: replace(state, contents="") for name, state in IMAGES.items()}
    for item in decide(plan((cell(),), unseen, FixedScripts()), memory):
        assert item.run
        assert "changed" not in item.reason
        assert "packages" in item.reason
    other = cell(variant=replace(ASM, options=()))
    build, run = decide(plan((other,), unseen, FixedScripts()), memory)
    assert run.reason == f"its build is made again ({build.reason})"
    assert build.reason.startswith("changed: variant")
    assert "packages" not in build.reason


def test_fresh_runs_everything() -> None:
    """With --fresh no result is used, and the reason says so."""
    assert {item.reason for item in decisions((cell(),), remembered((cell(),)), fresh=True)} == {"asked for by --fresh"}


def test_a_job_that_never_ran_says_so() -> None:
    """Without any memory the reason is that it never ran."""
    assert {item.reason for item in decisions((cell(),), Memory())} == {"never run before"}


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1))
def test_the_key_does_not_depend_on_the_order_of_inputs(inputs: dict[str, str]) -> None:
    """The same inputs in another order have the same key."""
    pairs = tuple(inputs.items())
    assert key_of(pairs) == key_of(tuple(reversed(pairs)))


@given(st.dictionaries(st.text(min_size=1), st.text(), min_size=1), st.data())
def test_any_changed_input_changes_the_key_and_is_named(inputs: dict[str, str], data: st.DataObject) -> None:
    """Law: a key hides no difference, and the reason names it."""
    name = data.draw(st.sampled_from(sorted(inputs)))
    other = {**inputs, name: inputs[name] + "x"}
    assert key_of(tuple(inputs.items())) != key_of(tuple(other.items()))
    assert name in changed(inputs, tuple(other.items()))
    assert changed(inputs, tuple(inputs.items())) == ""
