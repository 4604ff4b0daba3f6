# robustclevr on CPUs. From the root of the checkout:
#   docker build --file docker/cpu.Dockerfile --tag robustclevr:cpu .
# BASE may be another distribution with apt 2.0 or newer.
ARG BASE=debian:bookworm-20260824-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171

FROM ${BASE} AS runtime
# The libraries that bpy is linked against, and the Python that bpy 4.5 is built for where the
# distribution has a release of it. Their versions are those of the base, which is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        libice6 libsm6 libx11-6 libxext6 libxfixes3 libxi6 libxkbcommon0 libxrender1 libxt6 \
        '?and(?exact-name(python3.11), ?version(^3\.11\.[1-9]))' \
    && rm -rf /var/lib/apt/lists/*

FROM runtime AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libgl1 python3-venv \
    && rm -rf /var/lib/apt/lists/*
# Trust whom the base trusts: a network may have an authority of its own.
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    UV_COMPILE_BYTECODE=1 \
    UV_NO_CACHE=1 \
    UV_PYTHON_INSTALL_DIR=/opt/python \
    VIRTUAL_ENV=/opt/robustclevr
WORKDIR /src
COPY constraints.txt pyproject.toml ./
# Where the base has no Python 3.11, uv brings one, checked against the digest it carries.
RUN mkdir /opt/python \
    && python3 -m venv /opt/uv \
    && /opt/uv/bin/python -m pip install --no-cache-dir --constraint constraints.txt uv \
    && /opt/uv/bin/uv venv --python 3.11 "${VIRTUAL_ENV}"
# Of the project's extras, with a space between; a cluster of Ray needs "blender ray".
ARG EXTRAS="blender"
# Without Cycles' kernels for GPUs (80 MB): none is seen from in here.
RUN for extra in ${EXTRAS}; do set -- "$@" --extra "${extra}"; done \
    && /opt/uv/bin/uv pip install --requirement pyproject.toml --constraint constraints.txt "$@" \
    && rm -f "${VIRTUAL_ENV}"/lib/python3.11/site-packages/bpy/*/scripts/addons_core/cycles/lib/*.zst
COPY LICENSE README.md ./
COPY dags dags
COPY recipes recipes
COPY robustclevr robustclevr
RUN /opt/uv/bin/uv build --wheel --build-constraints constraints.txt --out-dir /dist \
    && /opt/uv/bin/uv pip install --no-deps /dist/*.whl

FROM runtime
LABEL org.opencontainers.image.title="robustclevr" \
      org.opencontainers.image.description="Synthetic datasets for measuring how robust object-centric vision models are; Blender on CPUs" \
      org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later"
# Folders that any --user may write to; home and caches are one of them.
RUN groupadd --gid 10001 robustclevr \
    && useradd --uid 10001 --gid 10001 --home-dir /cache --no-create-home --no-log-init robustclevr \
    && install --directory --mode 1777 /cache /data
# bpy is linked against libGL, and Cycles never calls it: without the package's drivers (220 MB).
COPY --from=build \
    /usr/lib/x86_64-linux-gnu/libGL.so.1 \
    /usr/lib/x86_64-linux-gnu/libGLX.so.0 \
    /usr/lib/x86_64-linux-gnu/libGLdispatch.so.0 \
    /usr/lib/x86_64-linux-gnu/
COPY --from=build /opt/python /opt/python
COPY --from=build /opt/robustclevr /opt/robustclevr
ENV HOME=/cache \
    PATH=/opt/robustclevr/bin:${PATH} \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/cache
VOLUME /cache
WORKDIR /data
USER 10001:10001
ENTRYPOINT ["robustclevr"]
CMD ["--help"]
