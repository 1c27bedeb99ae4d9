// Prints results that standard input states, by the printing code of nccl-tests (src/util.cu), called in the order of
// its src/common.cu.
//
// run PROGRAM GPUS_OF_PROCESS ITERATIONS CPU_TIME TIMESTAMPS PER_ITERATION CHECKED_BANDWIDTH JSON|-
// process HOST FIRST_GPU GROUP      one for each, in the order of ranks
// row SIZE COUNT TYPE REDOP ROOT FACTOR
// half US WRONG [US_OF_ITERATION...]     out-of-place, then in-place; WRONG is -1 without validation
#include <cstdarg>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "util.h"

int nThreads = 1, nGpus = 1, datacheck = 1, warmup_iters = 1, iters = 20, agg_iters = 1, parallel_init = 0;
int blocking_coll = 0, per_iter_timing = 0, per_iter_skip = 0, cudaGraphLaunches = 0, unalign = 0;
size_t minBytes = 1 << 20, maxBytes = 1ul << 34, stepBytes = 1 << 20, stepFactor = 2;
int test_ncclVersion = NCCL_VERSION_CODE, test_opnum = 0, test_typenum = 0;
const char *test_opnames[1], *test_typenames[ncclNumTypes];
thread_local int is_main_thread = 0;

struct Process { std::string host, first; int group; };
static std::vector<Process> processes;
static std::vector<std::string> lines;
static int process = 0;

char const* ncclGetLastError(ncclComm_t) { return ""; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
int ncclTestGetPid() { return 4000 + process; }
int ncclTestGetHostname(char*, size_t) { return 0; }
uint64_t ncclTestGetHostHash(const char*) { return 0; }
int ncclTestAsprintf(char** text, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int result = vasprintf(text, format, values);
  va_end(values);
  return result;
}
void MPI_Comm_rank(MPI_Comm, int* rank) { *rank = 0; }
void MPI_Allreduce(const void*, void*, int, int, int, MPI_Comm) {}
void MPI_Gather(const void* line, int bytes, int, void* all, int, int, int, MPI_Comm) {
  lines[process].assign(static_cast<const char*>(line), bytes);
  for (size_t p = 0; all && p < lines.size(); p++) memcpy(static_cast<char*>(all) + p * bytes, lines[p].data(), bytes);
}
cudaError_t cudaGetDeviceCount(int* count) { *count = 64; return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  *prop = cudaDeviceProp{0, 27 + 3 * device, 0, "NVIDIA H100 80GB HBM3", 80ul << 30};
  return cudaSuccess;
}

static void report(const std::string& program) {
  size_t memory = 1ul << 40;
  const Process& at = processes[process];
  setenv("NCCL_TESTS_DEVICE", at.first.c_str(), 1);
  writeDeviceReport(&memory, 0, process, processes.size(), at.group, at.host.c_str(), program.c_str());
}

int main() {
  std::string text, word, program, json;
  int cpu = 0, stamps = 0, errors[1] = {0}, half = 0, rows = 0;
  double check = -1, sum = 0, size = 0, factor = 1;
  while (std::getline(std::cin, text)) {
    std::istringstream in(text);
    in >> word;
    if (word == "run") {
      in >> program >> nGpus >> iters >> cpu >> stamps >> per_iter_timing >> check >> json;
    } else if (word == "process") {
      Process at;
      in >> at.host >> at.first >> at.group;
      processes.push_back(at);
    } else if (word == "row") {
      if (!rows++) {
        lines.resize(processes.size());
        for (process = processes.size() - 1; process > 0; process--) report(program);
        char *arguments[] = {program.data()}, *environment[] = {const_cast<char*>("NCCL_IB_HCA=mlx5"), nullptr};
        jsonOutputInit(json == "-" ? nullptr : json.c_str(), 1, arguments, environment);
        is_main_thread = 1;
        report(program);
        writeResultHeader(cpu, stamps);
      } else {
        writeBenchmarkLineTerminator(iters, "");
      }
      std::string type, redop;
      size_t count;
      int root;
      in >> size >> count >> type >> redop >> root >> factor;
      writeBenchmarkLinePreamble(static_cast<size_t>(size), count, type.c_str(), redop.c_str(), root);
      half = 0;
    } else if (word == "half") {
      double wrong, time;
      std::string stated;
      std::vector<double> times;
      in >> stated >> wrong;
      double us = strtod(stated.c_str(), nullptr);
      while (in >> time) times.push_back(time * 1e-6);
      double algorithm = size / 1e9 / (us * 1e-6);
      writeBenchmarkLineBody(us, algorithm, algorithm * factor, wrong >= 0, wrong, cpu, stamps, half == 0);
      if (per_iter_timing) {
        IterStats stats;
        computeIterStats(times.data(), times.size(), &stats);
        writePerIterReport(&stats, times.data(), times.size(), 0, half == 0, nullptr, processes.size());
        if (half == 1 && stamps) writeTimestamp();
      }
      errors[0] += wrong > 0;
      sum += algorithm * factor / 2;
      half++;
    }
  }
  writeBenchmarkLineTerminator(iters, "");
  double mean[1] = {sum / rows};
  writeResultFooter(errors, mean, check, program.c_str());
  finalizeFooter();
  writeErrors();
  jsonOutputFinalize();
}
