// Who runs: between two barriers each thread runs until it waits, in an order drawn at random.
#include "machine.h"

#include <string.h>

namespace lc {

Thread threads[MAX_THREADS];
u32 thread_count, done_count, waiting_count;
u32 done_lanes[MAX_WARPS];
State now;
i64 fuel;
void (*kernel)(void**);
void** kernel_args;

namespace {

u16 queue[MAX_THREADS];                         // of those who may run, head <= at < tail
u32 head, tail;
u64 random_state;
u32 order_kind;
u32 first_identity;                             // of the block's first thread

u32 below(u32 n) { return u32((draw() >> 32) * n >> 32); }

void arrange(u16* some, u32 n) {
    if (order_kind == RANDOM) {
        for (u32 i = n; i > 1; --i) {
            const u32 other = below(i);
            const u16 held = some[i - 1];
            some[i - 1] = some[other];
            some[other] = held;
        }
    } else if (order_kind == DESCENDING) {
        for (u32 i = 0; i < n / 2; ++i) {
            const u16 held = some[i];
            some[i] = some[n - 1 - i];
            some[n - 1 - i] = held;
        }
    }
}

void queue_all(Doing doing) {
    for (u32 i = 0; i < thread_count; ++i) {
        threads[i].doing = doing;
        queue[i] = u16(i);
    }
    head = 0;
    tail = thread_count;
    arrange(queue, thread_count);
}

u32 first_that(Doing doing) {
    u32 i = 0;
    while (i < thread_count && threads[i].doing != doing) ++i;
    return i;
}

void open_barrier() {
    const u32 first = first_that(AT_BARRIER);
    const int line = threads[first].line;
    if (done_count) {
        now.thread = first_that(DONE);
        report(line, {int(threads[now.thread].last_line), "the first of those was last seen here"},
               "__syncthreads() is reached by %u of %u threads; %u returned before it", waiting_count, thread_count,
               done_count);
    }
    for (u32 i = first; i < thread_count; ++i) {
        if (threads[i].line == line) continue;
        now.thread = i;
        report(threads[i].line, {line, "the other"}, "threads wait at two different __syncthreads(): %s at this one, thread %u at another",
               who(i), first);
    }
    waiting_count = 0;
    ++now.epoch;
    forget_warps();
    queue_all(READY);
}

// Nobody can run, and not because all wait at the barrier.
void report_stuck() {
    const u32 waiting = first_that(AT_PHASE);
    if (waiting < thread_count) report_phase(waiting);
    const u32 i = first_that(AT_WARP);
    if (i == thread_count) report(0, NOWHERE, "the runtime lost its threads");
    const u32 warp = i / 32 * 32;
    u32 lane = 0;
    while (lane < 31) {
        const bool wanted = (threads[i].mask >> lane & 1) && warp + lane < thread_count;
        const Thread& other = threads[warp + lane];
        if (wanted && !(other.doing == AT_WARP && other.line == threads[i].line)) break;
        ++lane;
    }
    const Thread& missing = threads[warp + lane];
    now.thread = i;
    report(threads[i].line, {missing.doing == DONE ? int(missing.last_line) : missing.line, "it was last seen here"},
           "lane %u does not arrive at this operation of its warp (mask 0x%08x): it %s", lane, threads[i].mask,
           missing.doing == DONE ? "has returned" : missing.doing == AT_BARRIER ? "waits at __syncthreads()"
                                                                               : "waits elsewhere");
}

void enter(u32 t) {
    now.thread = t;
    now.thread_idx = threads[t].index;
    now.lane_bit = 1u << (t & 31);
    now.warp = t / 32;
    now.time = warp_time(t / 32);
    now.full_time = full_time(t / 32);
    now.identity = first_identity + t;
}

void thread_main();

// The next in the queue goes on in place of `from`.
void run_next(Fiber& from, bool from_is_done) {
    if (head == tail) {
        if (done_count == thread_count) {
            now.thread = NOBODY;
            resume(from, launcher);
        }
        if (waiting_count && waiting_count + done_count == thread_count) open_barrier();
        else report_stuck();
    }
    const u32 next = queue[head++], last = now.thread;
    const bool fresh = threads[next].doing == FRESH;
    enter(next);
    threads[next].doing = READY;
    if (next == last && !fresh && !from_is_done) return;
    if (fresh) {
        now.last_line = 0;
        give_stack(threads[next].fiber);
        start(from, threads[next].fiber, thread_main);
    } else {
        resume(from, threads[next].fiber);
    }
}

void thread_main() {
    begin_copies(now.thread);
    kernel(kernel_args);
    check_no_copy_left();
    check_no_product_left();
    if (done_count + 1 == thread_count) check_no_box_left();
    Thread& mine = threads[now.thread];
    mine.last_line = now.last_line;
    mine.doing = DONE;
    ++done_count;
    done_lanes[now.warp] |= now.lane_bit;
    leave_warp();
    take_stack_back(mine.fiber);
    run_next(nobody, true);
    __builtin_unreachable();
}

}  // namespace

u64 draw() {                                    // xorshift64
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
void seed_order(u64 seed, u32 order) {
    random_state = (seed + 1) * 0x9e3779b97f4a7c15ull | 1;
    order_kind = order;
    for (int i = 0; i < 4; ++i) draw();
}

void run_block() {
    now.base = ++now.epoch;
    waiting_count = done_count = 0;
    memset(done_lanes, 0, sizeof done_lanes);
    clear_warps();
    begin_warpgroups();
    begin_barriers();
    const u32 block = (now.block_idx.z * now.grid_dim.y + now.block_idx.y) * now.grid_dim.x + now.block_idx.x;
    first_identity = block * thread_count + 1;
    queue_all(FRESH);
    now.thread = NOBODY;
    run_next(launcher, true);
}

void wait() {
    Thread& mine = threads[now.thread];
    mine.last_line = now.last_line;
    run_next(mine.fiber, false);
    now.last_line = u32(mine.line);
}

void make_ready(u32 first_thread, u32 lanes) {
    if (tail + 32 > MAX_THREADS) {
        memmove(queue, queue + head, (tail - head) * sizeof queue[0]);
        tail -= head;
        head = 0;
    }
    const u32 from = tail;
    for (u32 lane = 0; lane < 32; ++lane) {
        if (!(lanes >> lane & 1)) continue;
        threads[first_thread + lane].doing = READY;
        queue[tail++] = u16(first_thread + lane);
    }
    arrange(queue + from, tail - from);
}

void spend_fuel(int line) {
    if (--fuel < 0) report(line, NOWHERE, "the kernel does not come to an end: it synchronises without limit");
}
void barrier(int line) {
    Thread& mine = threads[now.thread];
    mine.doing = AT_BARRIER;
    mine.line = line;
    ++waiting_count;
    now.last_line = u32(line);
    spend_fuel(line);
    wait();
}

}  // namespace lc
