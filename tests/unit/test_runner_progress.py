"""What a real run tells a board: at any moment every job of the plan waits, runs or is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.fake_engine import Act
from tests.unit.runner_samples import IMAGES, SECOND_PROFILE, World, cell, other_source

from crossmatrix.events import CellFinished, RunStarted, StageStarted
from crossmatrix.report.progress import Progress

if TYPE_CHECKING:
    from crossmatrix.events import Event


class Follower:
    """Lets a board's progress follow a run, a second for each event, and notes where it stood after each."""

    def __init__(self) -> None:
        self.progress = Progress(began=0.0)
        self.now = 0.0
        self.counts: list[tuple[int, int, int]] = []
        self.left: list[float] = []

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self.now += 1
        self.progress.follow(event, self.now)
        if self.progress.total:
            self.counts.append((self.progress.waits, len(self.progress.running), self.progress.done))
            self.left.append(self.progress.time_left(self.now) or 0.0)


def followed(world: World, **request: object) -> Follower:
    """Carry out a run of three cells and two builds, one job at a time, and give what a board saw of it."""
    world.on_event = follower = Follower()
    world.run(cell(), cell(SECOND_PROFILE), other_source(), **request)
    return follower


def check_counts(follower: Follower, total: int) -> None:
    """See that every job was counted once at any moment, and that none is left in the end."""
    assert {sum(counts) for counts in follower.counts} == {total}
    assert follower.counts[-1] == (0, 0, total)


def test_every_job_waits_runs_or_is_done(world: World) -> None:
    """The counts add up to the plan from its beginning to its end, and go through every number on the way."""
    follower = followed(world)
    check_counts(follower, 5)
    assert [waits for waits, _, _ in follower.counts] == sorted((w for w, _, _ in follower.counts), reverse=True)
    assert {done for _, _, done in follower.counts} == set(range(6))


def test_the_time_left_falls_from_the_whole_estimate_to_nothing(world: World) -> None:
    """It begins with what all jobs are expected to take, never rises while each is faster, and ends at nothing."""
    left = followed(world).left
    (start,) = world.of_kind(RunStarted)
    assert isinstance(start, RunStarted)
    assert left[0] == sum(estimate for _, estimate in start.jobs)
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0.0
    assert len(set(left)) > 5


def test_a_job_that_runs_has_the_estimate_of_the_plan(world: World) -> None:
    """A build and its run in the default profile may carry one id, and are two jobs with times of their own."""
    follower = Follower()
    estimates = {}

    def see(event: Event) -> None:
        follower(event)
        if isinstance(event, StageStarted):
            estimates.update({name: job.estimate_s for name, job in follower.progress.running.items()})

    world.on_event = see
    world.run(cell())
    (start,) = world.of_kind(RunStarted)
    assert isinstance(start, RunStarted)
    assert estimates == dict(start.jobs)
    assert len(estimates) == 2


def test_jobs_whose_build_fails_do_not_wait_for_ever(world: World) -> None:
    """Runs that a failed build takes with it are done, also where it had failed in an earlier run."""
    world.engine.on("build * build", Act(code=2))
    check_counts(followed(world), 5)
    world.events.clear()
    follower = followed(world)
    assert len(world.of_kind(CellFinished)) == 3
    assert all(sum(counts) == follower.progress.total for counts in follower.counts)
    assert (follower.progress.waits, follower.progress.running) == (0, {})


def test_jobs_that_a_stop_gives_up_do_not_wait_for_ever(world: World) -> None:
    """A run that ends with its first red cell leaves nothing waiting."""
    world.engine.on("run * test", Act(code=1))
    check_counts(followed(world, fail_fast=True), 5)


def test_images_that_have_to_be_built_first_do_not_count(world: World) -> None:
    """The jobs of the plan are counted, not what was built to make it."""
    world.engine.images.clear()
    assert len(IMAGES) > 1
    follower = followed(world)
    start = next(index for index, counts in enumerate(follower.counts) if counts[0])
    assert {sum(counts) for counts in follower.counts[start:]} == {5}
    assert follower.counts[-1] == (0, 0, 5)
