// Barriers at which bytes arrive too, and copies of boxes. A copy lands as late as it may: when a thread waits for its
// barrier and nothing else is missing. Until then whoever touches where it goes is found; and so is, afterwards, a
// thread that has not waited itself.
#include "machine.h"
#include "../cells.h"

#include <stdlib.h>
#include <string.h>

namespace lc {

namespace {

const u32 MAX_BARRIERS = 256;
const i64 BOX_LINE = 128, BOX_PANEL = 1024, BOX_VECTOR = 16;

struct Coming {
    BoxCopy of;
    i64 bytes;
    int line;
};
struct Phases {
    const BarrierSet* set;
    u32 index;                          // in the set
    u32 arrivals, missing;              // of threads, in a phase; still to come in this one. arrivals 0: not begun
    i64 told, brought;                  // bytes of this phase
    u32 over;                           // phases
    u32 epoch, thread;                  // when and by whom it was begun
    u32 waiting;                        // threads
    Coming* coming;
    u32 count, room;
};
Phases barriers[MAX_BARRIERS];
u32 barrier_count;
u32 seen[MAX_THREADS][MAX_BARRIERS];    // phases that a thread knows to be over

Phases& phases_of(BarrierSet* set, i64 index, int line) {
    if (set->block != (now.launch << 32 | now.base)) {
        if (barrier_count + set->count > MAX_BARRIERS) report(set->line, NOWHERE, "more than %u barriers", MAX_BARRIERS);
        set->block = now.launch << 32 | now.base;
        set->first = barrier_count;
        for (u32 k = 0; k < set->count; ++k) {
            Phases& one = barriers[barrier_count++];
            Coming* const room = one.coming;
            const u32 rooms = one.room;
            one = {set, k, 0, 0, 0, 0, 0, 0, 0, 0, room, 0, rooms};
        }
    }
    if (index < 0 || index >= i64(set->count))
        report(line, NOWHERE, "%s has %u barriers, and none of number %lld", set->name, set->count, index);
    return barriers[set->first + u32(index)];
}
Phases& begun(BarrierSet* set, i64 index, int line) {
    Phases& of = phases_of(set, index, line);
    if (!of.arrivals) report(line, NOWHERE, "%s[%u] was not begun", set->name, of.index);
    if (of.epoch == now.epoch && of.thread != now.thread)
        report(line, NOWHERE, "%s[%u] was begun by another thread, with no barrier between", set->name, of.index);
    spend_fuel(line);
    return of;
}
u32 number_of(const Phases& of) { return u32(&of - barriers); }

// ---- what a copy brings

i64 elements_of(const TensorMap& from) {
    i64 count = from.windows ? from.windows : 1;
    for (u32 k = from.windows ? from.rank - 1 : 0; k < from.rank; ++k) count *= from.box[k];
    return count;
}

// One line along the last axis from these subscripts on, zeros where there is none.
void bring_line(const TensorMap& from, const i64* at, u8* line) {
    const u32 size = from.element_bytes, inner = from.rank - 1;
    i64 place = 0;
    bool there = true;
    for (u32 k = 0; k < inner; ++k) {
        there = there && at[k] >= 0 && at[k] < from.extents[k];
        place += at[k] * from.strides[k];
    }
    for (i64 k = 0; k < from.box[inner]; ++k) {
        const i64 last = at[inner] + k;
        u8* const to = line + k * size;
        if (there && last >= 0 && last < from.extents[inner])
            memcpy(to, static_cast<const u8*>(from.view.data) + (place + last) * size, size);
        else memset(to, 0, size);
    }
}

// Where byte `at` of a copy lies: in a panel, vectors of a line change places by its number.
i64 place_in(bool is_panel, i64 at) {
    return is_panel ? at / BOX_LINE * BOX_LINE + ((at / 16 % 8) ^ (at / BOX_LINE % 8)) * 16 + at % 16 : at;
}

void put_line(const TensorMap& from, const i64* at, u8* to, i64 number) {
    u8 line[4096];
    const i64 bytes = i64(from.box[from.rank - 1]) * from.element_bytes;
    bring_line(from, at, line);
    for (i64 k = 0; k < bytes; k += BOX_VECTOR) memcpy(to + place_in(from.is_panel, number * bytes + k), line + k, BOX_VECTOR);
}

void bring_box(const BoxCopy& copy, u8* to) {
    const TensorMap& from = *copy.from;
    const u32 inner = from.rank - 1;
    i64 lines = 1;
    for (u32 k = 0; k < inner; ++k) lines *= from.box[k];
    for (i64 number = 0; number < lines; ++number) {
        i64 at[MOST_AXES], rest = number;
        for (u32 k = inner; k-- > 0; rest /= from.box[k]) at[k] = copy.numbers[k] + rest % from.box[k];
        at[inner] = copy.numbers[inner];
        put_line(from, at, to, number);
    }
}

// Windows side by side: along the axes that windows have, to the last one of a line, and on.
void bring_taps(const BoxCopy& copy, u8* to) {
    const TensorMap& from = *copy.from;
    const u32 inner = from.rank - 1;
    i64 first[MOST_AXES];
    memcpy(first, copy.numbers, sizeof first);
    for (u32 number = 0; number < from.windows; ++number) {
        i64 at[MOST_AXES];
        for (u32 k = 0; k < from.rank; ++k) at[k] = first[k] + (k > 0 && k < inner ? copy.numbers[from.rank + k - 1] : 0);
        put_line(from, at, to, number);
        u32 k = inner;
        while (--k > 0 && (first[k] += from.step[k]) > from.last[k]) first[k] = from.low[k];
        if (k == 0) ++first[0];
    }
}

void bring(const BoxCopy& copy, u8* to) {
    if (copy.from->windows) bring_taps(copy, to);
    else bring_box(copy, to);
}

// ---- phases

template <class See> void each_cell(const Coming& one, See see) {
    Region* const to = one.of.to;
    for (i64 k = one.of.at >> to->shift; k < (one.of.at + one.bytes) >> to->shift; ++k) see(to, k);
}

void land(const Coming& one, const Phases& of) {
    bring(one.of, one.of.to->data + one.of.at);
    each_cell(one, [&](Region* to, i64 k) {
        Cell& c = to->cells[k];
        c = {now.epoch, of.over, u32(one.line) | SHOWN, 0, 0, 0, 0, u16(ENGINE | number_of(of)), 0};
        if (to->content) to->content[k] = to;
    });
}

void wake(Phases& of) {
    for (u32 warp = 0; warp * 32 < thread_count && of.waiting; ++warp) {
        u32 lanes = 0;
        for (u32 lane = 0; lane < 32 && warp * 32 + lane < thread_count; ++lane) {
            const Thread& one = threads[warp * 32 + lane];
            if (one.doing == AT_PHASE && one.barrier == number_of(of)) lanes |= 1u << lane;
        }
        of.waiting -= u32(__builtin_popcount(lanes));
        if (lanes) make_ready(warp * 32, lanes);
    }
}

// The phase is over, and what it waited for is there, if nothing is missing.
void settle(Phases& of) {
    if (of.missing || of.told != of.brought) return;
    ++of.over;
    for (u32 n = 0; n < of.count; ++n)
        if (of.coming[n].of.to) land(of.coming[n], of);
    of.count = 0;
    of.told = of.brought = 0;
    of.missing = of.arrivals;
    wake(of);
}

void check_copy(const Coming& one) {
    const BoxCopy& of = one.of;
    const TensorMap& from = *of.from;
    const u32 numbers = from.windows ? 2 * from.rank - 2 : from.rank;
    if (from.box[from.rank - 1] * from.element_bytes % BOX_VECTOR)
        report(one.line, NOWHERE, "lines of a box are of whole %lld bytes", BOX_VECTOR);
    if (of.count != numbers) report(one.line, NOWHERE, "this map takes %u numbers, not %u", numbers, of.count);
    if (of.numbers[from.rank - 1] * i64(from.element_bytes) % BOX_VECTOR)     // an H200 knows no such instruction
        report(one.line, NOWHERE, "a copy begins at whole %lld bytes of a line, not at element %lld", BOX_VECTOR,
               of.numbers[from.rank - 1]);
    for (u32 k = 1; from.windows && k + 1 < from.rank; ++k)
        if (of.numbers[k] < from.low[k] || of.numbers[k] > from.last[k] || of.numbers[from.rank + k - 1] < 0)
            report(one.line, NOWHERE, "along axis %u no window begins at %lld, or a tap lies before it", k, of.numbers[k]);
    if (!of.to) return;
    if (from.is_panel && !of.to->is_panel) report(one.line, NOWHERE, "%s is no panel: PANEL_AT declares one", of.to->name);
    const i64 begin = from.is_panel ? BOX_PANEL : BOX_LINE;
    if (of.at % begin || of.to->offset % begin)
        report(one.line, NOWHERE, "a copy begins at a multiple of %lld bytes, not at byte %lld of %s", begin, of.at,
               of.to->name);
    if (of.at < 0 || of.at + one.bytes > of.to->bytes) outside_region(of.to, of.at, u32(one.bytes), one.line);
    check_no_product_reads(of.to, of.at, one.bytes, one.line);
}

}  // namespace

void begin_barriers() {
    for (u32 n = 0; n < barrier_count; ++n)
        for (u32 t = 0; t < thread_count; ++t) seen[t][n] = 0;
    barrier_count = 0;
}

void barrier_begin(BarrierSet* set, i64 index, int arrivals, int line) {
    Phases& of = phases_of(set, index, line);
    if (of.arrivals || arrivals < 1) report(line, NOWHERE, "%s[%u] is begun twice, or nobody arrives", set->name, of.index);
    of.arrivals = of.missing = u32(arrivals);
    of.epoch = now.epoch;
    of.thread = now.thread;
}

// Who waited for this goes on first: what the thread that has arrived does later, it does too late.
void barrier_arrive(BarrierSet* set, i64 index, int bytes, int line) {
    Phases& of = begun(set, index, line);
    if (!of.missing) report(line, NOWHERE, "more threads arrive at %s[%u] than it waits for", set->name, of.index);
    --of.missing;
    of.told += bytes;
    if (of.waiting) settle(of);
    if (bytes) return;
    make_ready(now.thread / 32 * 32, now.lane_bit);
    threads[now.thread].line = line;
    wait();
}

void barrier_wait(BarrierSet* set, i64 index, int parity, int line) {
    Phases& of = begun(set, index, line);
    settle(of);
    while ((of.over & 1) == (u32(parity) & 1)) {
        Thread& mine = threads[now.thread];
        mine.doing = AT_PHASE;
        mine.line = line;
        mine.barrier = number_of(of);
        ++of.waiting;
        wait();
    }
    seen[now.thread][number_of(of)] = of.over;
}

void copy_box(BoxCopy* mine, int line) {
    Phases& of = begun(mine->set, mine->index, line);
    const Coming one = {*mine, elements_of(*mine->from) * mine->from->element_bytes, line};
    check_copy(one);
    of.brought += one.bytes;
    if (!one.of.to) {
        bring(one.of, one.of.data);
    } else {
        each_cell(one, [&](Region* to, i64 k) {
            Cell& c = to->cells[k];
            if (c.read_line & PENDING) suspicious(to, &c, true, line);
            if (c.write_epoch >= now.base) check_written(to, c, true, line);
            check_read(to, c, line);
            c.read_line = PENDING | u32(line);
        });
        if (of.count == of.room) {
            of.room = of.room ? 2 * of.room : 8;
            of.coming = static_cast<Coming*>(realloc(of.coming, of.room * sizeof(Coming)));
        }
        of.coming[of.count++] = one;
    }
    if (of.waiting) settle(of);
}

void check_brought(const Region* region, const Cell& c, bool write, int line) {
    const u32 number = c.writer & 0xff;
    const Phases& of = barriers[number];
    if (c.read_line & PENDING) report(line, {int(c.read_line & ~PENDING), "issued here"},
                                      "%s of %s while a copy to it is on its way", write ? "write" : "read", region->name);
    if (seen[now.thread][number] < c.write_time)
        report(line, {int(c.write_line & ~SHOWN), "copied here"}, "race: %s of %s[%u] by a thread that has not waited for %s[%u]",
               write ? "write" : "read", region->name, u32(&c - region->cells), of.set->name, of.index);
}

void report_phase(u32 thread) {
    const Phases& of = barriers[threads[thread].barrier];
    now.thread = thread;
    report(threads[thread].line, NOWHERE, "%s[%u] is waited for in vain: %u more threads arrive, %lld bytes were told of and %lld set out",
           of.set->name, of.index, of.missing, of.told, of.brought);
}

void check_no_box_left() {
    for (u32 n = 0; n < barrier_count; ++n)
        if (barriers[n].count) report(barriers[n].coming[0].line, NOWHERE, "a copy is never waited for");
}

}  // namespace lc
