// What the rooms of the runtime share: the threads of one block, run as fibers of one thread of the system.
#pragma once
#include "../state.h"

#include <stddef.h>

namespace lc {

const u32 MAX_THREADS = 1024, MAX_WARPS = 32, NOBODY = MAX_THREADS;

// ---- fibers.cpp: stacks, and the switch between them

struct Fiber {
    void* stack_pointer;
    char* stack;                // its top
};
void prepare_stacks();
void free_all_stacks();
void give_stack(Fiber&);
void take_stack_back(Fiber&);
bool is_below_a_stack(const void* address);             // where a stack that overflows runs into
void resume(Fiber& from, Fiber& to);
void start(Fiber& from, Fiber& fresh, void (*entry)());
extern Fiber launcher;                                  // the caller of layoutc_launch
extern Fiber nobody;                                    // stands for one that is never resumed

// ---- scheduler.cpp: who runs

enum Doing { FRESH, READY, AT_BARRIER, AT_WARP, AT_PHASE, DONE };
struct Thread {
    Fiber fiber;
    Dim index;
    u32 last_line;              // of a checked access, when it last stopped
    int line;                   // where it waits
    u32 mask;                   // of the warp operation that it waits at
    u32 barrier;                // whose phase it waits for, among the block's
    Doing doing;
};
extern Thread threads[MAX_THREADS];
extern u32 thread_count, done_count, waiting_count;     // waiting_count: at the block's barrier
extern u32 done_lanes[MAX_WARPS];
extern State now;
extern i64 fuel;
extern void (*kernel)(void**);
extern void** kernel_args;

void seed_order(u64 seed, u32 order);
u64 draw();
void run_block();                                       // until every thread is done, or a fault
void wait();                                            // the running thread stops, another goes on
void make_ready(u32 first_thread, u32 lanes);
void barrier(int line);
void spend_fuel(int line);

// ---- warps.cpp: what lanes do together, and what they know of each other

void forget_warps();                                    // at a barrier of the block
void clear_warps();                                     // at the start of a block
u32 warp_time(u32 warp);
u32 full_time(u32 warp);
u32 known(u32 warp, u32 lane, u32 of);                  // up to when `lane` has seen what `of` did
u32 existing_lanes(u32 warp);
void collective(u32 mask, int kind, void* mine, Resolve*, int line);
void warp_barrier(u32 mask, int line);
void leave_warp();                                      // the running thread returns

// ---- shared.cpp: regions, races, asynchronous copies

void prepare_shared(u32 dynamic_bytes);
void forget_cells();
void wipe_cells();                                      // after a launch that was broken off
void open_region(Region*);
void suspicious(Region*, Cell*, bool write, int line);
void more_readers(Cell*, int line);
void copy_async(Region*, i64 at, const void* from, int bytes, int size, int line);
void copy_commit();
void copy_wait(int groups);
void copy_show();
void begin_copies(u32 thread);
void check_no_copy_left();
u8* dynamic_memory();

void check_written(Region*, const Cell&, bool write, int line);
void check_read(Region*, const Cell&, int line);

// ---- boxes.cpp: barriers at which bytes arrive too, and copies of boxes, on their way until somebody waits for them

void begin_barriers();                                  // at the start of a block
void barrier_begin(BarrierSet*, i64 index, int arrivals, int line);
void barrier_arrive(BarrierSet*, i64 index, int bytes, int line);
void barrier_wait(BarrierSet*, i64 index, int parity, int line);
void copy_box(BoxCopy*, int line);
void check_brought(const Region*, const Cell&, bool write, int line);     // that the thread has waited for the copy
void report_phase(u32 thread) __attribute__((noreturn)); // nobody can run, and this thread waits for a phase
void check_no_box_left();

// ---- warpgroups.cpp: products of panels, on their way until they are waited for

void begin_warpgroups();                                // at the start of a block
void wgmma(PanelProduct*, int line);
void wgmma_begin(int line);
void wgmma_commit(int line);
void wgmma_wait(int groups, int line);
void check_no_product_reads(const Region*, i64 at, i64 bytes, int line);
void check_no_product_left();

// ---- faults.cpp: what went wrong, said once

extern Launch* current;
bool has_failed();
void clear_fault();
struct Elsewhere {              // a second place that explains the first
    int line;
    const char* label;
};
const Elsewhere NOWHERE = {0, ""};
void report(int line, Elsewhere, const char* format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void watch_signals(u32 block_ms);
void begin_block_timer();
void unwatch_signals();
const char* who(u32 thread);                            // "thread 5", or its three indices in a larger block
void outside_region(Region*, i64 at, u32 bytes, int line) __attribute__((noreturn));
void stale(Region*, i64 at, const Region* content, int line) __attribute__((noreturn));
void outside_array(const ArrayView*, i64 i, int count, bool write, int line) __attribute__((noreturn));
void written_twice(const ArrayView*, i64 i, int line) __attribute__((noreturn));
void misaligned(const char* name, int bytes, int line) __attribute__((noreturn));
void fail(const char* message, int line) __attribute__((noreturn));

}  // namespace lc
