// Shared memory: its regions, what counts as a race, and asynchronous copies.
#include "machine.h"
#include "../cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace lc {

namespace {

const size_t STATIC_BYTES = 1 << 20, DYNAMIC_BYTES = 1 << 20;
const u32 MAX_REGIONS = 256;

// Bytes and cells of one kind of shared memory; cells come lazily, one a granule.
struct Store {
    u8* data;
    Cell* cells;
    size_t bytes, used_cells;
};
Store fixed, dynamic;                           // SHARED, SHARED_AT
size_t fixed_bytes;
u32 dynamic_bytes, dynamic_shift;
const Region** content;
Region* dynamic_regions[MAX_REGIONS];
u32 dynamic_count;

struct Copy {
    Region* to;
    i64 at;
    const void* from;
    int bytes, size, line;
    u32 group;
};
struct Copies {
    Copy* list;
    u32 count, room, groups;
    Copy* landed;               // in panels, and not yet shown to wgmma
    u32 landed_count, landed_room;
};
Copies copies[MAX_THREADS];

void append(Copy*& list, u32& count, u32& room, const Copy& copy) {
    if (count == room) {
        room = room ? 2 * room : 8;
        list = static_cast<Copy*>(realloc(list, room * sizeof(Copy)));
    }
    list[count++] = copy;
}

template <class T> T* map(size_t count) {
    void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) __builtin_trap();
    return static_cast<T*>(memory);
}

void prepare(Store& store, size_t bytes) {
    if (store.data) return;
    store = {map<u8>(bytes), map<Cell>(bytes), bytes, 0};
}

void point(Region& region) {
    region.shift = dynamic_shift;
    region.data = dynamic.data + region.offset;
    region.cells = dynamic.cells + (region.offset >> dynamic_shift);
    region.content = content + (region.offset >> dynamic_shift);
}

// A region of smaller elements has come: every cell becomes several that know the same.
void refine(u32 shift) {
    const u32 parts = 1u << (dynamic_shift - shift);
    for (size_t k = dynamic_bytes >> dynamic_shift; k-- > 0;) {
        for (u32 part = parts; part-- > 0;) {
            dynamic.cells[k * parts + part] = dynamic.cells[k];
            content[k * parts + part] = content[k];
        }
    }
    dynamic_shift = shift;
    dynamic.used_cells = dynamic_bytes >> shift;
    for (u32 i = 0; i < dynamic_count; ++i) point(*dynamic_regions[i]);
}

void open_dynamic(Region& region) {
    if (region.offset < 0 || region.offset + region.bytes > dynamic_bytes)
        report(region.line, NOWHERE, "%s ends at byte %lld of the launch's %u bytes of dynamic shared memory", region.name,
               region.offset + region.bytes, dynamic_bytes);
    if (region.offset >> region.shift << region.shift != region.offset || dynamic_count == MAX_REGIONS)
        report(region.line, NOWHERE, "%s is not aligned to its elements, or one region too many", region.name);
    if (dynamic_count == 0) {
        dynamic_shift = region.shift;
        dynamic.used_cells = (dynamic_bytes >> dynamic_shift) + 1;
    } else if (region.shift < dynamic_shift) {
        refine(region.shift);
    }
    dynamic_regions[dynamic_count++] = &region;
    point(region);
}

void open_fixed(Region& region) {
    const size_t count = region.bytes >> region.shift;
    fixed_bytes = (fixed_bytes + 127) / 128 * 128;
    if (fixed_bytes + region.bytes > fixed.bytes) report(region.line, NOWHERE, "more shared memory than any GPU has");
    region.data = fixed.data + fixed_bytes;
    region.cells = fixed.cells + fixed.used_cells;
    memset(region.data, 0xff, region.bytes);    // poison: NaN, -1
    fixed_bytes += region.bytes;
    fixed.used_cells += count;
}

u32 granule(const Region* region, const Cell* cell) { return u32(cell - region->cells); }

const char* verb(bool write) { return write ? "write" : "read"; }

u32 writer_of(const Cell& c) { return c.writer & u16(~COLLIDING); }

}  // namespace

void check_written(Region* region, const Cell& c, bool write, int line) {
    if (c.write_epoch < now.base) {
        if (!write) report(line, NOWHERE, "read of %s[%u], which was never written", region->name, granule(region, &c));
        return;
    }
    if (c.write_epoch != now.epoch || c.writer == now.thread) return;
    if (c.writer & ENGINE) return check_brought(region, c, write, line);
    const u32 writer = writer_of(c);
    if (writer / 32 == now.warp && c.write_time < known(now.warp, now.thread & 31, writer & 31)) return;
    report(line, {int(c.write_line & ~SHOWN), "written here"}, "race: %s of %s[%u], which %s writes with no barrier between", verb(write), region->name,
           granule(region, &c), who(writer));
}

void check_read(Region* region, const Cell& c, int line) {
    if (c.read_epoch != now.epoch) return;
    if (c.read_warp != now.warp)
        report(line, {int(c.read_line), "read here"}, "race: write of %s[%u], which a thread of another warp reads with no barrier between",
               region->name, granule(region, &c));
    for (u32 lane = 0; lane < 32; ++lane) {
        if (lane == (now.thread & 31) || !(c.read_lanes >> lane & 1)) continue;
        if (c.read_time >= known(now.warp, now.thread & 31, lane))
            report(line, {int(c.read_line), "read here"}, "race: write of %s[%u], which lane %u of the same warp reads with no __syncwarp() between",
                   region->name, granule(region, &c), lane);
    }
}

void prepare_shared(u32 bytes) {
    prepare(fixed, STATIC_BYTES);
    prepare(dynamic, DYNAMIC_BYTES);
    if (!content) content = map<const Region*>(DYNAMIC_BYTES);
    fixed_bytes = fixed.used_cells = 0;
    dynamic_count = 0;
    dynamic_bytes = bytes;
    memset(dynamic.data, 0xff, bytes);
    if (now.epoch < 0xf0000000u) return;
    memset(fixed.cells, 0, STATIC_BYTES * sizeof(Cell));
    memset(dynamic.cells, 0, DYNAMIC_BYTES * sizeof(Cell));
    now.epoch = 0;
}
void wipe_cells() {
    memset(fixed.cells, 0, fixed.used_cells * sizeof(Cell));
    memset(dynamic.cells, 0, dynamic.used_cells * sizeof(Cell));
}
u8* dynamic_memory() { return dynamic.data; }

void open_region(Region* region) {
    if (region->offset < 0) open_fixed(*region);
    else open_dynamic(*region);
    region->launch = now.launch;
}

void suspicious(Region* region, Cell* cell, bool write, int line) {
    const Cell& c = *cell;
    if (c.read_line & PENDING)
        report(line, {int(c.read_line & ~PENDING), "issued here"}, "%s of %s[%u] while an asynchronous copy to it is on its way", verb(write),
               region->name, granule(region, cell));
    check_written(region, c, write, line);
    if (write) check_read(region, c, line);
}

// Lanes whose reads this lane has seen need not be remembered: who has seen this lane's read has seen theirs.
// Else all count as read at the latest time, which can report a race too many where groups of lanes that keep
// changing synchronise.
void more_readers(Cell* cell, int line) {
    Cell& c = *cell;
    bool all_seen = true;
    for (u32 lane = 0; lane < 32; ++lane)
        if (c.read_lanes >> lane & 1 && c.read_time >= known(now.warp, now.thread & 31, lane)) all_seen = false;
    c.read_lanes = all_seen ? now.lane_bit : c.read_lanes | now.lane_bit;
    c.read_time = now.time;
    c.read_line = u32(line);
}

// ---- Asynchronous copies: pending from their issue until this thread waits for them

void begin_copies(u32 thread) { copies[thread].count = copies[thread].groups = copies[thread].landed_count = 0; }

void copy_async(Region* region, i64 at, const void* from, int bytes, int size, int line) {
    if (at < 0 || at + size > region->bytes) outside_region(region, at, u32(size), line);
    now.last_line = u32(line);
    for (i64 k = at >> region->shift; k < (at + size) >> region->shift; ++k) {
        note_write(now, region, region->cells[k], line);
        region->cells[k].read_line = PENDING | u32(line);
    }
    Copies& mine = copies[now.thread];
    append(mine.list, mine.count, mine.room, {region, at, from, bytes, size, line, mine.groups});
}
void copy_commit() { ++copies[now.thread].groups; }

void copy_wait(int groups) {
    Copies& mine = copies[now.thread];
    u32 kept = 0;
    for (u32 i = 0; i < mine.count; ++i) {
        const Copy copy = mine.list[i];
        if (i64(copy.group) + groups >= i64(mine.groups)) {
            mine.list[kept++] = copy;
            continue;
        }
        for (i64 k = copy.at >> copy.to->shift; k < (copy.at + copy.size) >> copy.to->shift; ++k) {
            Cell& c = copy.to->cells[k];
            c.read_line = 0;
            note_write(now, copy.to, c, copy.line);
            if (copy.to->content) copy.to->content[k] = copy.to;
        }
        memcpy(copy.to->data + copy.at, copy.from, size_t(copy.bytes));
        memset(copy.to->data + copy.at + copy.bytes, 0, size_t(copy.size - copy.bytes));
        if (copy.to->is_panel) append(mine.landed, mine.landed_count, mine.landed_room, copy);
    }
    mine.count = kept;
}

// What has landed, and was not written since: as if it were written now, so that others read it after a barrier.
void copy_show() {
    Copies& mine = copies[now.thread];
    for (u32 i = 0; i < mine.landed_count; ++i) {
        const Copy& copy = mine.landed[i];
        for (i64 k = copy.at >> copy.to->shift; k < (copy.at + copy.size) >> copy.to->shift; ++k) {
            Cell& c = copy.to->cells[k];
            if (c.writer != now.thread || c.write_line != u32(copy.line)) continue;
            note_write(now, copy.to, c, copy.line);
            c.write_line |= SHOWN;
        }
    }
    mine.landed_count = 0;
}

void check_no_copy_left() {
    const Copies& mine = copies[now.thread];
    if (mine.count) report(mine.list[0].line, NOWHERE, "an asynchronous copy is never waited for");
}

}  // namespace lc
