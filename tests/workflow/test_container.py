"""The container: README's own commands lead from an empty Debian to tables with the expected bytes."""

import os
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="module")
def steps(root):
    """Return pairs of an instruction of the Containerfile and its words."""
    lines = (root / "Containerfile").read_text(encoding="utf-8").splitlines()
    return [line.split(" ", 1) for line in lines if not line.startswith("#")]


@pytest.fixture(scope="module")
def commands(root):
    """Return the commands by which README.md installs and tries the project."""
    install = (root / "README.md").read_text(encoding="utf-8").partition("\n## Install\n")[2]
    block = re.search(r"```bash\n(.*?)```", install, re.DOTALL).group(1)
    return [re.sub(" +#.*", "", line) for line in block.splitlines()]


def test_the_steps_are_those_of_the_readme(steps, commands):
    run = [words for name, words in steps if name == "RUN"]
    assert [words for words in run if not words.startswith("useradd")] == commands[:2]
    assert re.fullmatch(r"docker\.io/library/debian@sha256:[0-9a-f]{64}", dict(steps)["FROM"])


def test_an_image_gets_what_a_clone_has(root):
    ignored = {
        name: [line for line in (root / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        for name in (".gitignore", ".dockerignore")
    }

    def as_docker(pattern):
        negated, path = pattern.startswith("!"), pattern.removeprefix("!").removesuffix("/")
        return "!" * negated + (path[1:] if path.startswith("/") else f"**/{path}")

    assert [as_docker(pattern) for pattern in ignored[".gitignore"]] == ignored[".dockerignore"]


def test_apptainer_takes_the_same_steps(root, steps):
    said = dict(steps)
    place = said["WORKDIR"]
    # it never runs as root
    post = [f"cd {words}" if name == "WORKDIR" else words for name, words in steps if name in ("RUN", "WORKDIR")]
    post = [words for words in post if not words.startswith("useradd")]
    wanted = ["Bootstrap: docker", f"From: {said['FROM']}", "%files", f". {place}", "%post", *post]
    wanted += ["%runscript", f"cd {place}", said["CMD"]]
    lines = (root / "segshuffle.def").read_text(encoding="utf-8").splitlines()
    assert [line.strip() for line in lines if line and not line.startswith("#")] == wanted


@pytest.fixture
def debian(snapshot, tmp_path):
    """Return the root of an empty Debian with a copy of the project and with this machine's way to the network."""
    if os.geteuid() or not shutil.which("debootstrap"):
        pytest.skip("needs root and debootstrap (Debian: apt-get install debootstrap)")
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    mirrors = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    root = tmp_path / "root"
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, *mirrors[:1]], check=True)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc")
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "certificates.pem")
    shutil.copytree(snapshot, root / "segshuffle")
    yield root
    shutil.rmtree(root)


@pytest.mark.exhaustive
@pytest.mark.pipeline
def test_the_commands_lead_from_an_empty_debian_to_the_expected_tables(root, debian, commands):
    """Only tables that are the same with and without the MSNBC log have a committed SHA-256."""
    environ = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
    environ["PIP_CERT"] = "/certificates.pem"
    # /proc and /dev are there for these commands only
    mount = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"'
    enter = f'{mount} && exec chroot "$0" bash -euc "cd segshuffle; $1"'
    for command in commands[:4]:
        run = ["unshare", "--mount", "sh", "-euc", enter, debian, command]
        done = subprocess.run(run, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    checksums = (root / "config/quick.sha256").read_text(encoding="utf-8").splitlines()
    assert done.stdout.count(": OK\n") == len(checksums) > 0
