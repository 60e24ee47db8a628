"""How to repeat one run of an experiment: the options of ``warploom run`` that choose its configuration."""

from warploom.arch.config import SmConfig, flat, presets


def options(config: SmConfig, preset: str) -> list[str]:
    """``--preset`` and ``--set``; `preset` is the base of configurations whose name is that of no preset."""
    base = config.name if config.name in presets() else preset
    known = flat(SmConfig.preset(base))
    different = [f"{name}={value}" for name, value in flat(config).items() if value != known.get(name)]
    return ["--preset", base, *(word for setting in different if not setting.startswith("name=")
                                for word in ("--set", setting))]
