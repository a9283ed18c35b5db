"""Contents of wheels and sdists, checked against the checkout: ``python .ci/contents.py FILE ...``.

A wheel has the modules and data of the checkout under their names in the package, and no others. One for a platform
has libraries as well: each for the same kinds of CPUs, for that machine, needing nothing but the system's libraries.
"""

import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILED = "colloc/kernels/compiled/"
LIBRARIES = {"interpreter", "lanes", "multifrontal", "step"}
# Kinds of CPUs for which there are libraries: those that `colloc.kernels.shipped` can tell on that system.
KINDS = {
    "linux": {"x86_64": {"any", "v3", "v4"}}, "win": {"x86_64": {"any", "v3"}}, "macosx": {"x86_64": {"any", "v3"}},
}  # fmt: skip
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
SYSTEMS = {"linux": "ELF", "manylinux": "ELF", "win": "PE", "macosx": "Mach-O"}
NEEDS = re.compile(
    r"lib(c|m|mvec|pthread)\.so\.\d|ld-linux-[\w-]+\.so\.\d|(KERNEL32|msvcrt|api-ms-win-crt-[\w-]+)\.dll"
    r"|/usr/lib/libSystem\.B\.dylib"
)
# What the interpreter takes from macOS for machine code on Apple's processors, as Apple demands.
FOR_CODE = {b"_mmap", b"_pthread_jit_write_protect_np", b"_sys_icache_invalidate"}
MACOS = (11, 0)  # the oldest that the wheels are for
# Commands of a Mach-O file: names of libraries, minimum version, signature; and its kind.
ID, NEEDED, BUILD_VERSION, SIGNATURE, DYLIB = 0x0D, {0x0C, 0x80000018, 0x8000001F, 0x20, 0x80000023}, 0x32, 0x1D, 6


def tracked(*folders: str) -> set[str]:
    """Files of the checkout in these folders."""
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    return {name for name in listed.decode().split("\0") if name}


def in_package(path: str) -> str:
    """Name of a file of the checkout in a wheel."""
    return path if path.startswith("colloc/") else f"colloc/{path}"


def few(names: set[str]) -> str:
    """The number of names, and the first of them."""
    return f"{len(names)} files ({', '.join(sorted(names)[:3])})" if names else "nothing"


def check_wheel(file: Path) -> str:
    """A line on a wheel; AssertionError if it does not hold what it should."""
    name, version, *_, platform = file.stem.split("-")
    with zipfile.ZipFile(file) as wheel:
        texts = {member: wheel.read(member) for member in wheel.namelist() if not member.endswith("/")}
    about = f"{name}-{version}.dist-info/"
    held = {member for member in texts if not member.startswith((about, COMPILED))}
    wanted = {in_package(path) for path in tracked("colloc", "models", "studies")}
    wanted = {path for path in wanted if not path.startswith("colloc/studies/benchmarks/")}
    assert held == wanted, f"{file.name} lacks {few(wanted - held)}, and has {few(held - wanted)} beyond"
    assert f"Tag: py3-none-{platform}".encode() in texts[f"{about}WHEEL"] or "." in platform
    libraries = {member.removeprefix(COMPILED): texts[member] for member in texts if member.startswith(COMPILED)}
    if platform == "any":
        assert not libraries
        return f"{file.name}: {len(held)} files"
    system, machine = re.fullmatch(r"([a-z]+)[_\d]*_(\w+64)", platform.split(".")[0]).groups()  # pyright: ignore[reportOptionalMemberAccess]
    machine = MACHINES[machine]
    kinds: dict[str, set[str]] = {}
    for library, code in libraries.items():
        stem, _, kind = library.rpartition(".")[0].split("-")
        kinds.setdefault(stem, set()).add(kind)
        assert (SYSTEMS[system], machine) == made_for(code), f"{library} is for {made_for(code)}"
        assert not (others := {need for need in needs(code) if not NEEDS.fullmatch(need)}), f"{library} needs {others}"
        if system == "macosx":
            check_macho(library, code, machine)
    expected = KINDS.get(system.removeprefix("many"), {}).get(machine, {"any"})
    assert kinds.keys() >= LIBRARIES, f"{file.name} has {sorted(kinds)} of {sorted(LIBRARIES)}"
    assert all(own == expected for own in kinds.values()), f"{file.name} has {kinds}, not {expected} of each"
    return f"{file.name}: {len(held)} files and {', '.join(sorted(kinds))} for {', '.join(sorted(expected))}"


def made_for(code: bytes) -> tuple[str, str]:
    """Format and machine of a library."""
    if code.startswith(b"\x7fELF"):
        return "ELF", {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", code, 18)[0]]
    if code.startswith(b"MZ"):
        (header,) = struct.unpack_from("<I", code, 60)
        return "PE", {0x8664: "x86_64", 0xAA64: "aarch64"}[struct.unpack_from("<H", code, header + 4)[0]]
    assert code.startswith(b"\xcf\xfa\xed\xfe"), "neither ELF, PE nor Mach-O"
    return "Mach-O", {0x01000007: "x86_64", 0x0100000C: "aarch64"}[struct.unpack_from("<I", code, 4)[0]]


def needs(code: bytes) -> set[str]:
    """Names of libraries that one needs: in a Mach-O file those of its commands, else in its text."""
    if made_for(code)[0] == "Mach-O":
        return {library_name(body) for command, body in commands(code) if command in NEEDED}
    return {name.decode() for name in re.findall(rb"[\w.+-]+\.so\.\d+|[\w.+-]+\.dll", code)}


def commands(code: bytes) -> list[tuple[int, bytes]]:
    """Commands of a Mach-O file, and their bytes."""
    (count,) = struct.unpack_from("<I", code, 16)
    found, place = [], 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", code, place)
        found.append((command, code[place : place + size]))
        place += size
    return found


def library_name(command: bytes) -> str:
    """Name of the library in a command."""
    (start,) = struct.unpack_from("<I", command, 8)
    return command[start:].partition(b"\0")[0].decode()


def check_macho(library: str, code: bytes, machine: str) -> None:
    """AssertionError for a library that is none, for a newer macOS, or without what Apple's processors demand."""
    assert struct.unpack_from("<I", code, 12) == (DYLIB,), f"{library} is no library"
    listed = dict(commands(code))
    system, version = struct.unpack_from("<II", listed[BUILD_VERSION], 8)
    assert system == 1, f"{library} is not for macOS"
    assert (version >> 16, version >> 8 & 255) == MACOS, f"{library} is for macOS {version >> 16}.{version >> 8 & 255}"
    own = library_name(listed[ID])
    assert "/" not in own, f"{library} is named {own}, a path of the machine that made it"
    assert machine != "aarch64" or SIGNATURE in listed, f"{library} has no signature, without which it is not loaded"
    if library.startswith("interpreter") and machine == "aarch64":
        lacks = {symbol for symbol in FOR_CODE if symbol + b"\0" not in code}
        assert not lacks, f"{library} does without {lacks}"


def check_sdist(file: Path) -> str:
    """A line on an sdist; AssertionError if it lacks something of which wheels are made, or tests."""
    with tarfile.open(file) as sdist:
        held = {member.name.partition("/")[2] for member in sdist.getmembers() if member.isfile()}
    lacks = tracked("colloc", "models", "studies", "tests", ".ci/hatch_build.py", "pyproject.toml") - held
    assert not lacks, f"{file.name} lacks {few(lacks)}"
    return f"{file.name}: {len(held)} files"


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        print(check_wheel(path) if path.suffix == ".whl" else check_sdist(path))
