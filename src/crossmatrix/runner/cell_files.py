"""The files of a cell in its run's folder: logs and artifacts, linked from the kept results."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crossmatrix.records import Artifact, CellRecord, StageRecord
    from crossmatrix.store import JobResult, State


def with_files(state: State, record: CellRecord, results: Sequence[JobResult | None], run_id: str) -> CellRecord:
    """Give a cell its files, and let the record's paths lead to them.

    Args:
        state: with results and runs.
        record: of the cell.
        results: of its build job and its run job, where there are any.
        run_id: of the run.

    Returns:
        The record with artifacts and log paths, relative to the run's folder; stages that an earlier run did are
        marked as reused.
    """
    artifacts: list[Artifact] = []
    stages: list[StageRecord] = []
    where = state.runs.cell_folder(run_id, record.id).relative_to(state.runs.folder(run_id)).as_posix()
    for result in results:
        if result is None:
            continue
        folder = state.results.folder(result.key)
        if folder.is_dir():
            state.runs.add_files(run_id, record.id, "logs", folder, _below("logs/", result))
            artifacts += state.runs.add_files(run_id, record.id, "artifacts", folder, _below("out/", result))
        stages += [
            stage.model_copy(
                update={
                    "log": f"{where}/logs/{stage.name}.log" if stage.log else "",
                    "reused": result.run_id != run_id,
                },
            )
            for stage in result.stages
        ]
    return record.model_copy(update={"artifacts": tuple(artifacts), "stages": tuple(stages)})


def _below(prefix: str, result: JobResult) -> Iterator[tuple[str, Artifact]]:
    """Give the files of a result below a folder, with the names that a cell gives them."""
    for file in result.files:
        if file.path.startswith(prefix):
            yield file.path.removeprefix(prefix).removeprefix("artifacts/"), file
