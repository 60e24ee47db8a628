"""How to repeat one run of an experiment: the options of ``warploom run`` that choose its configuration."""

from warploom.arch.config import SmConfig, flat, presets
from warploom.arch.gpu import GPU_PARAMETERS, GpuConfig, Machine, gpu_presets


def options(machine: Machine, preset: str) -> list[str]:
    """``--preset`` or ``--gpu``, and ``--set``; `preset` is the base of machines whose name is that of no preset."""
    if isinstance(machine, GpuConfig):
        base = machine.name if machine.name in gpu_presets() else preset
        return ["--gpu", base, *_settings(_flat(machine), _flat(GpuConfig.preset(base)))]
    base = machine.name if machine.name in presets() else preset
    return ["--preset", base, *_settings(flat(machine), flat(SmConfig.preset(base)))]


def _flat(gpu: GpuConfig) -> dict[str, str]:
    """The fields of a GPU, and of its SMs."""
    return {name: str(getattr(gpu, name)) for name in GPU_PARAMETERS} | flat(gpu.sm)


def _settings(values: dict[str, str], known: dict[str, str]) -> list[str]:
    """``--set`` for each field that differs."""
    different = [f"{name}={value}" for name, value in values.items() if value != known.get(name)]
    return [*(word for setting in different if not setting.startswith("name=")
                                for word in ("--set", setting))]
