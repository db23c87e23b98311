// Runs CUDA kernels on the host: what kernels name, and a launch.
//
// Every CUDA thread is a coroutine; blocks run one after another. A thread runs until it waits for
// others, and a warp for as long as it can before the next one runs; `backwards` takes both from the
// last to the first. A kernel that lacks a barrier gives something else in one of the two orders. One
// in which some threads wait for ones that have ended is an error.
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <utility>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct Dim {
  unsigned x, y, z;
};
static Dim threadIdx, blockIdx, blockDim, gridDim;

namespace shim {

struct Barrier {
  int members = 0, waiting = 0;
  long turn = 0;
};
struct Thread {
  ucontext_t state;
  std::vector<char> stack;
  bool done = false;
};

static ucontext_t scheduler;
static std::vector<Thread> threads;
static std::vector<Barrier> warps;
static Barrier block;
static std::vector<double> slots;  // what threads show each other
static long progress;              // how often a thread has come further
static void (*body)(void *);
static void *kernel;

inline void pause() {
  unsigned me = threadIdx.x;
  swapcontext(&threads[me].state, &scheduler);
  threadIdx.x = me;
}

inline void wait(Barrier &barrier) {
  long turn = barrier.turn;
  progress++;
  if (++barrier.waiting == barrier.members) {
    barrier.waiting = 0;
    barrier.turn++;
    return;
  }
  while (barrier.turn == turn) pause();
  progress++;
}

static void start() {
  unsigned me = threadIdx.x;
  body(kernel);
  threads[me].done = true;
  progress++;
  swapcontext(&threads[me].state, &scheduler);
}

// Runs a warp until all of it waits for others; how many threads have ended.
static int run_warp(int w, bool backwards) {
  int first = 32 * w, size = warps[w].members, ended = 0;
  long before;
  do {
    before = progress;
    for (int k = 0; k < size; k++) {
      int t = first + (backwards ? size - 1 - k : k);
      if (threads[t].done) continue;
      threadIdx.x = t;
      swapcontext(&scheduler, &threads[t].state);
      ended += threads[t].done;
    }
  } while (progress != before);
  return ended;
}

static bool run_block(bool backwards) {
  int count = (int)blockDim.x, left = count;
  block = Barrier{count};
  warps.assign((count + 31) / 32, Barrier{});
  for (int t = 0; t < count; t++) warps[t / 32].members++;
  for (Thread &thread : threads) {
    thread.done = false;
    getcontext(&thread.state);
    thread.state.uc_stack.ss_sp = thread.stack.data();
    thread.state.uc_stack.ss_size = thread.stack.size();
    makecontext(&thread.state, start, 0);
  }
  while (left > 0) {
    long before = progress;
    int last = (int)warps.size() - 1;
    for (int w = 0; w <= last; w++) left -= run_warp(backwards ? last - w : w, backwards);
    if (progress == before) return false;
  }
  return true;
}

// 0 if all threads came to their ends.
template <typename F> int launch(F f, long grid, long size, int backwards) {
  gridDim = {(unsigned)grid, 1, 1};
  blockDim = {(unsigned)size, 1, 1};
  slots.assign(size, 0.0);
  threads.resize(size);
  for (Thread &thread : threads) thread.stack.resize(1 << 16);
  kernel = &f;
  body = [](void *g) { (*(F *)g)(); };
  for (long k = 0; k < grid; k++) {
    blockIdx = {(unsigned)(backwards ? grid - 1 - k : k), 0, 0};
    if (!run_block(backwards)) return 1;
  }
  return 0;
}

template <typename... A, size_t... I>
int call(void (*f)(A...), std::index_sequence<I...>, long grid, long size, int backwards, void **xs) {
  return launch([=] { f(*(A *)xs[I]...); }, grid, size, backwards);
}

template <typename... A> int call(void (*f)(A...), long grid, long size, int backwards, void **xs) {
  return call(f, std::index_sequence_for<A...>{}, grid, size, backwards, xs);
}

}  // namespace shim

inline void __syncthreads() { shim::wait(shim::block); }

template <typename T> T __shfl_down_sync(unsigned mask, T x, int offset) {
  static_assert(sizeof(T) <= sizeof(double), "");
  unsigned me = threadIdx.x, from = me % 32 + offset < 32 ? me + offset : me;
  memcpy(&shim::slots[me], &x, sizeof x);
  shim::wait(shim::warps[me / 32]);
  T found;
  memcpy(&found, &shim::slots[from < blockDim.x ? from : me], sizeof found);
  shim::wait(shim::warps[me / 32]);
  return mask == 0xffffffffu ? found : T(0);
}

inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }

inline double __longlong_as_double(long long bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
