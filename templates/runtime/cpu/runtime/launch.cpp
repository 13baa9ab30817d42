// The one door of the runtime: runs the blocks of a grid, one after another, in an order drawn at random.
#include "machine.h"

#include <time.h>

namespace lc {

namespace {

u64 common_divisor(u64 a, u64 b) {
    while (b) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The n-th block of the order is (start + n * step) mod blocks, with a step prime to their number.
struct BlockOrder {
    u64 blocks, start, step;
    BlockOrder(u64 count, u64 seed, u32 order) : blocks(count), start(0), step(1) {
        if (order == DESCENDING) {
            start = blocks - 1;
            step = blocks - 1;
        }
        if (order != RANDOM || blocks < 3 || blocks >> 32) return;
        seed_order(seed, order);
        do step = 1 + draw() % (blocks - 1);
        while (common_divisor(step, blocks) != 1);
        start = draw() % blocks;
    }
    u64 at(u64 n) const { return step == 1 ? (start + n) % blocks : (start + n * step % blocks) % blocks; }
};

u64 milliseconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return u64(t.tv_sec) * 1000 + u64(t.tv_nsec) / 1000000;
}

void fill_table() {
    now.barrier = barrier;
    now.collective = collective;
    now.warp_barrier = warp_barrier;
    now.open_region = open_region;
    now.suspicious = suspicious;
    now.more_readers = more_readers;
    now.copy_async = copy_async;
    now.copy_commit = copy_commit;
    now.copy_wait = copy_wait;
    now.copy_show = copy_show;
    now.barrier_begin = barrier_begin;
    now.barrier_arrive = barrier_arrive;
    now.barrier_wait = barrier_wait;
    now.copy_box = copy_box;
    now.wgmma = wgmma;
    now.wgmma_begin = wgmma_begin;
    now.wgmma_commit = wgmma_commit;
    now.wgmma_wait = wgmma_wait;
    now.outside_region = outside_region;
    now.stale = stale;
    now.outside_array = outside_array;
    now.written_twice = written_twice;
    now.misaligned = misaligned;
    now.fail = fail;
}

void prepare(Launch& launch) {
    current = &launch;
    prepare_stacks();
    free_all_stacks();
    prepare_shared(launch.shared_bytes);
    fill_table();
    *launch.state = &now;
    now.memory = dynamic_memory();
    now.block_dim = launch.block;
    now.grid_dim = launch.grid;
    now.thread = NOBODY;
    now.last_line = 0;
    ++now.launch;
    kernel = launch.body;
    kernel_args = launch.args;
    thread_count = launch.block.x * launch.block.y * launch.block.z;
    const Dim& block = launch.block;
    for (u32 i = 0; i < thread_count; ++i)
        threads[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    clear_fault();
}

int run_blocks(Launch& launch) {
    const Dim& grid = launch.grid;
    const BlockOrder order(u64(grid.x) * grid.y * grid.z, launch.seed, launch.order);
    const u64 end = launch.slice_ms ? milliseconds() + launch.slice_ms : 0;
    for (; launch.first < launch.last; ++launch.first) {
        if (end && milliseconds() >= end) return PAUSED;
        const u64 block = order.at(launch.first);
        now.block_idx = {u32(block % grid.x), u32(block / grid.x % grid.y), u32(block / grid.x / grid.y)};
        seed_order(launch.seed ^ block * 0xd1342543de82ef95ull, launch.order);
        fuel = launch.fuel;
        begin_block_timer();
        run_block();
        if (has_failed()) return FAULT;
    }
    return FINISHED;
}

}  // namespace

}  // namespace lc

extern "C" __attribute__((visibility("default"))) int layoutc_launch(lc::Launch* launch) {
    using namespace lc;
    const u64 count = u64(launch->block.x) * launch->block.y * launch->block.z;
    if (count == 0 || count > MAX_THREADS || launch->shared_bytes > 1u << 20) return REFUSED;
    prepare(*launch);
    watch_signals(launch->block_ms);
    const int status = run_blocks(*launch);
    unwatch_signals();
    now.thread = NOBODY;
    if (status == FAULT) wipe_cells();
    return status;
}
