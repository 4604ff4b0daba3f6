/* A stand-in for NVIDIA's driver: it lists GPUs and fails at whatever is asked of them.

   Cycles loads libcuda.so.1 when it looks for devices, so its own listing, choosing and reporting of
   errors can be seen on a machine without a GPU. FAKE_CUDA_COUNT says how many there are (2), and
   FAKE_CUDA_INIT what cuInit returns (0). Numbers are those of cuda.h. */
#include <stdio.h>
#include <stdlib.h>

enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100 };
enum { PCI_BUS = 33, PCI_DEVICE = 34, PCI_DOMAIN = 50, CAPABILITY_MAJOR = 75 };

static int from_environment(const char *name, int otherwise)
{
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags) { return from_environment("FAKE_CUDA_INIT", 0); }

int cuDriverGetVersion(int *version) { *version = 12080; return 0; }

int cuDeviceGetCount(int *count) { *count = from_environment("FAKE_CUDA_COUNT", 2); return 0; }

int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }

int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Fake"); return 0; }

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  *value = attribute == CAPABILITY_MAJOR ? 9 : attribute == PCI_BUS ? device + 1 : 0;
  return 0;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer) { *can = 0; return 0; }

int cuGetErrorName(int error, const char **name)
{
  *name = error == NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}

#define FAILS(name) int name(void) { return OUT_OF_MEMORY; }
FAILS(cuArrayDestroy)
FAILS(cuCtxCreate_v2)
FAILS(cuCtxDestroy_v2)
FAILS(cuCtxPopCurrent_v2)
FAILS(cuCtxPushCurrent_v2)
FAILS(cuCtxSynchronize)
FAILS(cuDevicePrimaryCtxGetState)
FAILS(cuDevicePrimaryCtxRelease)
FAILS(cuDevicePrimaryCtxRetain)
FAILS(cuDevicePrimaryCtxSetFlags)
FAILS(cuFuncGetAttribute)
FAILS(cuFuncSetCacheConfig)
FAILS(cuLaunchKernel)
FAILS(cuMemAlloc_v2)
FAILS(cuMemFreeHost)
FAILS(cuMemFree_v2)
FAILS(cuMemGetInfo_v2)
FAILS(cuMemHostAlloc)
FAILS(cuMemHostGetDevicePointer_v2)
FAILS(cuMemcpy2DUnaligned_v2)
FAILS(cuMemcpyDtoHAsync_v2)
FAILS(cuMemcpyDtoH_v2)
FAILS(cuMemcpyHtoDAsync_v2)
FAILS(cuMemcpyHtoD_v2)
FAILS(cuMemsetD8Async)
FAILS(cuMemsetD8_v2)
FAILS(cuModuleGetFunction)
FAILS(cuModuleGetGlobal_v2)
FAILS(cuModuleLoadData)
FAILS(cuModuleUnload)
FAILS(cuOccupancyMaxPotentialBlockSize)
FAILS(cuStreamCreate)
FAILS(cuStreamDestroy_v2)
FAILS(cuStreamSynchronize)
FAILS(cuTexObjectCreate)
FAILS(cuTexObjectDestroy)
