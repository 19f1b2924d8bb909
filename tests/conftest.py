"""Profiles of the property tests: `ci` is the default; `pytest --hypothesis-profile=nightly` runs 10,000."""

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW
)
settings.register_profile("nightly", max_examples=10_000, deadline=None, suppress_health_check=_SLOW)
settings.load_profile("ci")
