// What a kernel compiled for the host and the runtime that runs it know of each other.
// Includes nothing: the parse of a system header costs more than all the rest.
#pragma once

#define LC_INLINE inline __attribute__((always_inline))
#define LC_CALLED static __attribute__((noinline))      // what every access would repeat: compiled once
#define LC_UNLIKELY(test) __builtin_expect(test, 0)
#define LC_LINE int line = __builtin_LINE()

namespace lc {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct Dim { u32 x, y, z; };

// An element that lies between the rows of a guarded array: nobody may touch it.
const u32 FORBIDDEN = 0xffffffffu;

// An argument. Valid are the elements low <= i < high that `owner` does not forbid.
struct ArrayView {
    void* data;                 // element 0
    i64 low, high;
    u32* owner;                 // [high - low], who wrote each element (thread in the grid + 1), or null
    const char* name;
    i64 shift;                  // elements that `array + i` has moved element 0
};

// What is known of one granule of shared memory. An epoch is the time between two barriers of a block;
// within it, a warp's time counts its own synchronisations.
struct Cell {
    u32 write_epoch, write_time, write_line;            // write_line: top bit SHOWN
    u32 read_epoch, read_time, read_line, read_lanes;   // read_line: top bit PENDING
    u16 writer, read_warp;                              // writer: top bit COLLIDING
};
const u32 PENDING = 0x80000000u;        // an asynchronous copy to the granule is on its way
const u32 SHOWN = 0x80000000u;          // written by a copy that wgmma sees
const u16 COLLIDING = 0x8000;           // written by store_any, which may meet another store_any
const u16 ENGINE = 0x4000;              // writer: copied as a box; the other bits name the barrier, write_time its phase
const u16 SEVERAL = 0xffff;             // read by more than one warp

// A declaration SHARED, SHARED_AT or PANEL_AT.
struct Region {
    u32 bytes;
    u32 shift;                  // log2 of a granule's bytes
    const char* name;
    int line;
    i64 offset;                 // in the launch's dynamic shared memory; SHARED: -1
    u64 launch;                 // the launch that data and cells are of
    u8* data;
    Cell* cells;
    const Region** content;     // but for SHARED: the region by which each granule was last written
    bool is_panel;              // PANEL_AT
};

// A product of two panels by a warpgroup, as one lane asks for it.
struct PanelProduct {
    void* sums;
    u32 count;                  // of the lane's sums, 4 bytes each
    Region* panel[2];           // of the rows, of the columns
    i64 at[2];                  // of the first line's bytes in it
    void (*multiply)(void** sums, const u8* rows, const u8* columns, u32 count, u32 warp);    // those of 32 lanes
};

// A declaration BARRIERS.
struct BarrierSet {
    u32 count, first;           // first: of its barriers among the block's
    const char* name;
    int line;
    u64 block;                  // in which its barriers have a place among the block's
};

// A tensor as the engine that copies boxes of it knows it; its twin is in layoutc/backend/tensor_maps.py.
const u32 MOST_AXES = 5;
struct TensorMap {
    ArrayView view;
    i64 extents[MOST_AXES], strides[MOST_AXES];     // strides in elements; axes as the tensor has them, the last of 1
    u32 rank, element_bytes;
    u32 box[MOST_AXES];         // what a copy brings along each axis
    u32 windows;                // 0: a copy brings a box. Else so many windows side by side, of each one tap
    int low[MOST_AXES], last[MOST_AXES], step[MOST_AXES];   // first taps of windows, along each axis that windows have
    u32 is_panel;               // the copy lies in a panel's order
};

// What a thread asks the engine for.
struct BoxCopy {
    BarrierSet* set;
    i64 index;                  // of the barrier
    const TensorMap* from;
    u32 count;                  // of the numbers
    i64 numbers[2 * MOST_AXES];
    Region* to;                 // or null: `data` of an unchecked kernel
    i64 at;                     // in bytes
    u8* data;
};

// What the lanes of a warp do together.
enum { WARP_BARRIER, SHUFFLE, SHUFFLE_XOR, SHUFFLE_DOWN, SHUFFLE_UP, BALLOT, COLUMNS, ROWS, MMA,
       WGMMA, WGMMA_BEGIN, WGMMA_COMMIT, WGMMA_WAIT };
typedef void Resolve(void** lane, u32 mask);

struct State {
    // Of the running thread
    Dim thread_idx, block_idx, block_dim, grid_dim;
    u32 thread, warp, lane_bit;
    u32 identity;               // thread in the grid, plus 1
    u32 epoch, base;            // now, and when the block began
    u32 time, full_time;        // of the warp: now, and at the last synchronisation of all its lanes
    u32 last_line;              // of a checked access
    u64 launch;
    u8* memory;                 // dynamic shared memory, for unchecked kernels

    void (*barrier)(int line);
    void (*collective)(u32 mask, int kind, void* mine, Resolve*, int line);
    void (*warp_barrier)(u32 mask, int line);
    void (*open_region)(Region*);
    void (*suspicious)(Region*, Cell*, bool write, int line);   // looks closer; returns if all is well
    void (*more_readers)(Cell*, int line);
    void (*copy_async)(Region*, i64 at, const void* from, int bytes, int size, int line);
    void (*copy_commit)();
    void (*copy_wait)(int groups);
    void (*copy_show)();
    void (*barrier_begin)(BarrierSet*, i64 index, int arrivals, int line);
    void (*barrier_arrive)(BarrierSet*, i64 index, int bytes, int line);
    void (*barrier_wait)(BarrierSet*, i64 index, int parity, int line);
    void (*copy_box)(BoxCopy*, int line);
    void (*wgmma)(PanelProduct*, int line);
    void (*wgmma_begin)(int line);
    void (*wgmma_commit)(int line);
    void (*wgmma_wait)(int groups, int line);

    // Faults: these do not return
    void (*outside_region)(Region*, i64 at, u32 bytes, int line) __attribute__((noreturn));
    void (*stale)(Region*, i64 at, const Region* content, int line) __attribute__((noreturn));
    void (*outside_array)(const ArrayView*, i64 i, int count, bool write, int line) __attribute__((noreturn));
    void (*written_twice)(const ArrayView*, i64 i, int line) __attribute__((noreturn));
    void (*misaligned)(const char* name, int bytes, int line) __attribute__((noreturn));
    void (*fail)(const char* message, int line) __attribute__((noreturn));
};

// What Python asks for and gets back; its twin is in layoutc/backend/machine.py.
struct Launch {
    Dim grid, block;
    u64 seed;
    u64 first, last;            // blocks first <= n < last of the order drawn; first is moved on
    i64 fuel;                   // synchronisations that one block may spend
    u32 block_ms;               // the longest that one block may take; 0: for ever
    u32 slice_ms;               // come back between two blocks after that long; 0: never
    u32 order;                  // ASCENDING, DESCENDING or RANDOM
    u32 shared_bytes;           // dynamic shared memory
    void (*body)(void**);
    void** args;
    State** state;              // of the kernel's library
    char* message;
    u32 message_room;
    int line, other_line;       // of the fault and of what explains it; 0: none
    const char* other_label;    // what happened there
    const char* array;          // the fault's argument, or null
    i64 element;                // of that argument
    Dim thread_idx, block_idx;  // who met it
};
enum { FINISHED = 0, FAULT = 1, PAUSED = 2, REFUSED = 3 };      // what lc_launch returns
enum { ASCENDING = 0, DESCENDING = 1, RANDOM = 2 };

}  // namespace lc
