# `make demo` and `make test` each do all of their own set-up; both need Python 3.11 and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PYTHON313 ?= python3.13
BLENDER5 := .venv-blender5
PEER := .venv-imagecorruptions
STAMP := .venv/.installed

.PHONY: setup demo test test-faults test-images test-blender5 bench-corrupt check golden study clean

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

# Half an hour: 200 random kills of parents, workers and Blenders; every dataset comes out the same.
test-faults: setup
	ROBUSTCLEVR_KILLS=200 $(BIN)/pytest -s tests/end_to_end/test_random_kills.py

# As root on Debian, ten minutes: both images, really built, and the demo inside.
test-images: setup
	tests/cluster/images.sh

# Blender 5.x against 4.5. It has an environment of its own, with the Python that bpy 5.x is built for.
test-blender5: setup $(BLENDER5)/.installed
	ROBUSTCLEVR_BLENDER5=$(CURDIR)/$(BLENDER5)/bin/python $(BIN)/pytest tests/blender5

$(BLENDER5)/.installed:
	@$(PYTHON313) -c "import sys; sys.exit(sys.version_info[:2] != (3, 13))" 2>/dev/null \
		|| { echo "Python 3.13 is needed (bpy 5.x is built for it); say which: make test-blender5 PYTHON313=/path/to/python3.13"; exit 1; }
	$(PYTHON313) -m venv $(BLENDER5)
	$(BLENDER5)/bin/python -m pip install --quiet 'bpy>=5.2' 'numpy>=2.2'
	touch $@

# As root, on Debian: installs and starts Slurm for one node, and stops it again.
test-slurm: setup
	$(BIN)/python tests/cluster/slurm.py
	$(BIN)/python tests/cluster/job_array.py

# `corrupt` beside imagecorruptions, which nobody maintains: old numpy and scikit-image, so an environment of its own.
bench-corrupt: setup $(PEER)/.installed
	ROBUSTCLEVR_IMAGECORRUPTIONS=$(CURDIR)/$(PEER)/bin/python $(BIN)/pytest -s tests/benchmarks/test_corrupt.py

$(PEER)/.installed:
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/python -m pip install --quiet --only-binary :all: imagecorruptions==1.1.2 'numpy<1.27' \
		scikit-image==0.20.0 'opencv-python<4.9' 'setuptools<80'
	touch $@

golden: setup
	$(BIN)/python tests/golden/make_golden.py

# Slot Attention against k-means on sprites of one color: about ten minutes on two cores.
study: setup
	$(BIN)/python docs/studies/same_color.py -o out/same-color

clean:
	rm -rf build dist out .venv $(BLENDER5) $(PEER) *.egg-info
