// Declarations that nccl-tests' printing code (src/util.cu) needs of NCCL, CUDA and MPI, so that it builds without them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
using std::max;
using std::min;
#define NCCL_MAJOR 2
#define NCCL_MINOR 23
#define NCCL_PATCH 7
#define NCCL_VERSION(X, Y, Z) ((X) * 10000 + (Y) * 100 + (Z))
#define NCCL_VERSION_CODE NCCL_VERSION(2, 23, 7)
struct ncclComm;
typedef ncclComm* ncclComm_t;
typedef int ncclResult_t;
enum { ncclSuccess = 0 };
typedef enum {
  ncclInt8, ncclChar = ncclInt8, ncclUint8, ncclInt32, ncclInt = ncclInt32, ncclUint32, ncclInt64, ncclUint64,
  ncclFloat16, ncclHalf = ncclFloat16, ncclFloat32, ncclFloat = ncclFloat32, ncclFloat64, ncclDouble = ncclFloat64,
  ncclBfloat16, ncclNumTypes
} ncclDataType_t;
typedef enum { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg, ncclNumOps } ncclRedOp_t;
typedef struct { int blocking; } ncclConfig_t;
typedef struct { char internal[128]; } ncclUniqueId;
typedef void* cudaStream_t;
typedef void* cudaEvent_t;
typedef int cudaError_t;
enum { cudaSuccess = 0 };
struct cudaDeviceProp { int pciDomainID, pciBusID, pciDeviceID; char name[256]; size_t totalGlobalMem; };
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
const char* cudaGetErrorString(cudaError_t);
const char* ncclGetErrorString(ncclResult_t);
