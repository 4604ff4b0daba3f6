# `make demo` and `make test` each do all of their own set-up; both need Python 3.11 and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test test-images check golden clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo "Python 3.11 is needed (bpy 4.5 is built for it); say which: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip setuptools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[blender,pyro,ray,slurm,remote,dev]'
	touch $@

demo: setup
	$(BIN)/robustclevr generate demo -o out/demo
	$(BIN)/robustclevr preview out/demo -o out/demo/preview.png

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup
	$(BIN)/pytest -n 2 --dist worksteal --ignore tests/benchmarks
	$(BIN)/pytest tests/benchmarks

# As root on Debian, ten minutes: both images, really built, and the demo inside.
test-images: setup
	tests/cluster/images.sh

golden: setup
	$(BIN)/python tests/golden/make_golden.py

clean:
	rm -rf build dist out .venv *.egg-info
