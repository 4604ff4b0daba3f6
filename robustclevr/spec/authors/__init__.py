"""DAG files of ndrenkow/robustclevr (RobustCLEVR, WACV 2024) to files of this project."""

from robustclevr.spec.authors.convert import import_dag

__all__ = ["import_dag"]
