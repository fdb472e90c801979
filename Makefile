# make build   installs what is missing, builds everything that runs into build/
# make serve   builds, then serves the example Tesseracts (HOST, PORT)
# make python  makes the environment .venv with the public Python SDK
# make wheel   builds the Python package `tessera` into build/wheels
# make test    installs what is missing, builds, runs everything; each part alone: make test-<part>
# make torture-gpu  kills clients and daemons in 1,000 ways while they exchange GPU arrays
# make torture overloads daemons, breaks what they need and kills them; the short form is a part of make test
# make soak    sends mixed good and bad traffic for MINUTES: what a daemon holds must not grow
# make fuzz    gives each fuzz target SECONDS_EACH seconds (tests/fuzz/README.md)
# make schemathesis  makes up requests from the OpenAPI document for a minute: none may end in a server error
# make format  rewrites the sources as clang-format wants them
# make tidy    asks clang-tidy about every source
# make gpu-kit  builds build/gpu-kit, a folder to carry to a machine with a GPU (tests/gpu_kit/README.md)
# make bench   times tessera beside the Python runtime, and its clients beside others
# make clean   removes build/ and .venv/

SHELL := /bin/bash
BUILD := build
HOST ?= 127.0.0.1
PORT ?= 8000
SECONDS_EACH ?= 60
MINUTES ?= 60
EXAMPLES := vectoradd univariate identity everything failing
# The parts of `make test`, in the order in which they run: what fails soonest and tells most first.
PARTS := unit vectors conformance sdk-servers gpu torture gpu-kit install python-sdk schemathesis lint sanitizers

export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
# A PYTHONPATH or an active environment of the user's is no business of the tests.
unexport PYTHONPATH PYTHONHOME

.PHONY: build serve test format tidy bench clean packages test-packages python configure programs tests stand-in \
        torture torture-gpu soak gpu-kit wheel fuzz schemathesis \
        $(PARTS:%=test-%) lint

build: packages configure programs

packages:
	@cmake/install_packages.sh build
test-packages:
	@cmake/install_packages.sh test
python: test-packages
	@tests/python_environment.sh

configure:
	@cmake --preset release --log-level=WARNING
programs: configure
	cmake --build $(BUILD) --target programs
tests: configure
	cmake --build $(BUILD)

stand-in: configure
	cmake --build $(BUILD) --target stand_in_cudart
# ccache finds what the release build compiled, whatever folder it was compiled in.
wheel: test-packages python
	@rm -rf $(BUILD)/wheels
	CCACHE_NOHASHDIR=1 .venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir $(BUILD)/wheels ./sdk/python
gpu-kit: test-packages python
	@tests/gpu_kit/python/fetch.sh $(BUILD)
	@cmake --preset release --log-level=WARNING
	cmake --build $(BUILD) --target gpu_kit

serve: build
	@cmake/show_first_calls.sh "$(HOST)" "$(PORT)"
	@mkdir -p $(BUILD)/served
	@exec $(BUILD)/bin/tessera serve $(EXAMPLES) --host "$(HOST)" --port "$(PORT)" \
	  --input-path $(BUILD)/served --output-path $(BUILD)/served

test:
	@tests/run_parts.sh $(PARTS)

test-unit: test-packages tests
	@tests/run_ctest.sh $(BUILD) unit
test-vectors: test-packages tests
	@tests/run_ctest.sh $(BUILD) vectors
test-conformance: test-packages python programs stand-in
	@tests/run_conformance.sh $(BUILD)
test-sdk-servers: test-packages python programs stand-in
	cmake --build $(BUILD) --target tessera_sdk_server_tests
	@tests/run_sdk_servers.sh $(BUILD)
test-gpu: test-packages python configure
	cmake --build $(BUILD) --target gpu_tests
	@tests/run_gpu.sh $(BUILD)
test-torture: test-packages python configure
	cmake --build $(BUILD) --target torture_tests
	@tests/run_torture.sh $(BUILD)
torture: test-packages python configure
	cmake --build $(BUILD) --target torture_tests
	@tests/run_torture.sh $(BUILD) --overload-s 60 --times 50 -s .
soak: test-packages python configure
	cmake --build $(BUILD) --target torture_tests
	@LD_LIBRARY_PATH=$(BUILD)/stand_in .venv/bin/python tests/torture/soak.py --build $(BUILD) --minutes $(MINUTES)
torture-gpu: test-packages python configure
	cmake --build $(BUILD) --target gpu_tests
	@tests/run_gpu.sh $(BUILD) --schedules 1000 -s test_kills.py
test-gpu-kit: test-packages gpu-kit stand-in wheel
	@tests/gpu_kit/run_on_stand_in.sh $(BUILD)
test-install: test-packages programs
	@tests/install/run.sh $(BUILD)
test-python-sdk: programs stand-in wheel
	@tests/run_python_sdk.sh $(BUILD)
test-sanitizers: test-packages python stand-in
	@tests/run_sanitizers.sh
test-lint: test-packages tests
	@tests/run_lint.sh $(BUILD)
lint: test-lint

fuzz: test-packages
	@cmake --preset fuzz --log-level=WARNING
	cmake --build --preset fuzz
	@tests/fuzz/run.sh $(BUILD)/fuzz $(SECONDS_EACH) $(FUZZ_TARGETS)

schemathesis: test-packages programs
	@tests/fuzz/run_schemathesis.sh $(BUILD) $(SECONDS_EACH)
test-schemathesis: test-packages programs
	@tests/fuzz/run_schemathesis.sh $(BUILD) 40 --seed 1

format: test-packages
	@tests/list_sources.sh | xargs -0 clang-format-19 -i
tidy: test-packages tests
	@tests/run_tidy.py $(BUILD)

bench: python build wheel
	cmake --build $(BUILD) --target bench_programs
	@.venv/bin/python bench/compare.py
	@rm -rf $(BUILD)/python-site
	@.venv/bin/python -m pip install --quiet --no-deps --target $(BUILD)/python-site $(BUILD)/wheels/tessera-*.whl
	@PYTHONPATH=$(BUILD)/python-site .venv/bin/python bench/compare_clients.py
	@$(BUILD)/bin/tessera_array_bench --benchmark_min_time=0.1
	@$(BUILD)/bin/tessera_daemon_bench --benchmark_min_time=0.1
	@$(BUILD)/bin/tessera_export_registry_bench --benchmark_min_time=0.1

clean:
	rm -rf $(BUILD) .venv
