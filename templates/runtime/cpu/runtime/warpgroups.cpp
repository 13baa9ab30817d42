// Products of panels by the four warps of a warpgroup. Each is made when it is waited for, no earlier: until then its
// sums are poison, and whoever writes what it reads is found.
#include "machine.h"
#include "../cells.h"

#include <stdlib.h>
#include <string.h>

namespace lc {

namespace {

const u32 ROWS_OF_A_GROUP = 64, LINE_BYTES = 128, READ_BYTES = 32, GROUP_BYTES = 1024;
const u32 POISON = 0x7fc0dead;          // not a number, and a number that no sum is
const u32 MAX_SUMS = 16;                // arrays of sums that a warp may have on their way

// Sums of a warp's lanes, kept where nobody reads them.
struct Held {
    void* lane[32];                     // where they belong
    void* kept[32];
    u32 count, pending;                 // of a lane; products that add to them
};
struct Product {
    PanelProduct of;
    Held* held;
    u32 group, epoch;
    int line;
};
struct Crew {
    Product* list;
    u32 count, room, groups, issued;
    bool begun;
    Held held[MAX_SUMS];
};
Crew crews[MAX_WARPS];

// What the first warp of a warpgroup to come so far asked for; the others must ask for the same.
struct Asked {
    Region* panel[2];
    i64 at[2];
    int line;
};
struct Log {
    Asked* list;
    u32 count, room;
};
Log logs[MAX_WARPS / 4];

template <class T> T& one_more(T*& list, u32& count, u32& room) {
    if (count == room) {
        room = room ? 2 * room : 16;
        list = static_cast<T*>(realloc(list, room * sizeof(T)));
    }
    return list[count++];
}

void check_same(Crew& crew, const PanelProduct& of, int line) {
    Log& log = logs[now.warp / 4];
    const Asked mine = {{of.panel[0], of.panel[1]}, {of.at[0], of.at[1]}, line};
    if (crew.issued == log.count) one_more(log.list, log.count, log.room) = mine;
    const Asked& first = log.list[crew.issued++];
    const bool same = first.line == line && first.panel[0] == mine.panel[0] && first.panel[1] == mine.panel[1] &&
                      first.at[0] == mine.at[0] && first.at[1] == mine.at[1];
    if (!same) report(line, {first.line, "another warp here"}, "the warps of a warpgroup multiply different panels");
}

void check_place(const Region* panel, i64 at, u32 lines, int line) {
    if (!panel->is_panel) report(line, NOWHERE, "%s is no panel: PANEL_AT declares what wgmma reads", panel->name);
    if (panel->offset % GROUP_BYTES || at % GROUP_BYTES >= LINE_BYTES || at % READ_BYTES)
        report(line, NOWHERE, "wgmma begins at 32 bytes of a line whose number is a multiple of 8, not at byte %lld of %s",
               at, panel->name);
    if (at < 0 || at / GROUP_BYTES * GROUP_BYTES + i64(lines) * LINE_BYTES > panel->bytes)
        report(line, NOWHERE, "wgmma reads %u lines from byte %lld of %s, which has %u bytes", lines, at, panel->name,
               panel->bytes);
}

// Calls `see` for every granule that a product reads.
template <class See> void each_granule(const Product& product, See see) {
    for (u32 side = 0; side < 2; ++side) {
        Region* panel = product.of.panel[side];
        const u32 lines = side ? product.of.count * 2 : ROWS_OF_A_GROUP;
        const i64 first = product.of.at[side] / LINE_BYTES * LINE_BYTES, vector = product.of.at[side] / 16 % 8;
        for (u32 l = 0; l < lines; ++l)
            for (u32 v = 0; v < READ_BYTES / 16; ++v) {
                const i64 at = first + l * LINE_BYTES + ((vector + v) ^ l % 8) * 16;
                for (i64 k = at >> panel->shift; k < (at + 16) >> panel->shift; ++k) see(panel, panel->cells[k]);
            }
    }
}

void check_read(const Product& product) {
    each_granule(product, [&](Region* panel, Cell& c) {
        if (c.writer & ENGINE && c.write_epoch == now.epoch) check_brought(panel, c, false, product.line);
        else note_read(now, panel, c, product.line);
        if (!(c.write_line & SHOWN))
            report(product.line, {int(c.write_line), "written here"}, "wgmma reads %s[%u], which was not shown to it",
                   panel->name, u32(&c - panel->cells));
    });
}
void check_unchanged(const Product& product) {
    each_granule(product, [&](Region* panel, Cell& c) {
        const bool coming = c.read_line & PENDING;
        if (coming || c.write_epoch > product.epoch)
            report(product.line, {int((coming ? c.read_line : c.write_line) & ~SHOWN), "written here"},
                   "race: write of %s[%u] while wgmma reads it", panel->name, u32(&c - panel->cells));
    });
}

Held* hold(Crew& crew, void** lane, u32 count, int line) {
    Held* free = nullptr;
    PanelProduct** asked = reinterpret_cast<PanelProduct**>(lane);
    for (Held& held : crew.held) {
        if (held.pending && held.lane[0] == asked[0]->sums && held.count == count) return &held;
        if (!held.pending) free = &held;
    }
    if (!free) report(line, NOWHERE, "a warp has more than %u arrays of sums on their way", MAX_SUMS);
    free->count = count;
    for (u32 t = 0; t < 32; ++t) {
        free->lane[t] = asked[t]->sums;
        free->kept[t] = realloc(free->kept[t], count * 4);
        memcpy(free->kept[t], free->lane[t], count * 4);
        for (u32 n = 0; n < count; ++n) memcpy(static_cast<u8*>(free->lane[t]) + n * 4, &POISON, 4);
    }
    return free;
}

void resolve_product(void** lane, u32 mask) {
    Crew& crew = crews[now.warp];
    const PanelProduct& of = *static_cast<PanelProduct*>(lane[0]);
    const int line = threads[now.thread].line;
    if (mask != 0xffffffffu || thread_count % 128) report(line, NOWHERE, "wgmma is of four whole warps");
    if (!crew.begun) report(line, NOWHERE, "wgmma without wgmma_begin() since its last group");
    for (u32 t = 1; t < 32; ++t) {
        const PanelProduct& other = *static_cast<PanelProduct*>(lane[t]);
        if (memcmp(other.panel, of.panel, sizeof of.panel) || memcmp(other.at, of.at, sizeof of.at))
            report(line, NOWHERE, "lanes of a warp multiply different panels: lane 0 and lane %u", t);
    }
    check_same(crew, of, line);
    check_place(of.panel[0], of.at[0], ROWS_OF_A_GROUP, line);
    check_place(of.panel[1], of.at[1], of.count * 2, line);
    Product& product = one_more(crew.list, crew.count, crew.room);
    product = {of, hold(crew, lane, of.count, line), crew.groups, now.epoch, line};
    ++product.held->pending;
    check_read(product);
}
void resolve_begin(void**, u32) { crews[now.warp].begun = true; }
void resolve_commit(void**, u32) {
    crews[now.warp].begun = false;
    ++crews[now.warp].groups;
}

void make(Product& product) {
    check_unchanged(product);
    Held& held = *product.held;
    const PanelProduct& of = product.of;
    of.multiply(held.kept, of.panel[0]->data + of.at[0], of.panel[1]->data + of.at[1], of.count, now.warp % 4);
    if (--held.pending) return;
    for (u32 t = 0; t < 32; ++t) memcpy(held.lane[t], held.kept[t], held.count * 4);
}
void resolve_wait(void** lane, u32) {
    Crew& crew = crews[now.warp];
    const i64 groups = *static_cast<int*>(lane[0]);
    u32 made = 0;
    while (made < crew.count && i64(crew.list[made].group) + groups < i64(crew.groups)) make(crew.list[made++]);
    crew.count -= made;
    memmove(crew.list, crew.list + made, crew.count * sizeof(Product));
}

}  // namespace

void begin_warpgroups() {
    for (u32 w = 0; w < MAX_WARPS; ++w) {
        Crew& crew = crews[w];
        crew.count = crew.groups = crew.issued = 0;
        crew.begun = false;
        for (Held& held : crew.held) held.pending = 0;
        logs[w / 4].count = 0;
    }
}
void wgmma(PanelProduct* mine, int line) { collective(0xffffffffu, WGMMA, mine, resolve_product, line); }
void wgmma_begin(int line) { collective(0xffffffffu, WGMMA_BEGIN, &line, resolve_begin, line); }
void wgmma_commit(int line) { collective(0xffffffffu, WGMMA_COMMIT, &line, resolve_commit, line); }
void wgmma_wait(int groups, int line) { collective(0xffffffffu, WGMMA_WAIT, &groups, resolve_wait, line); }

// Of any warp: a copy may not set out to where a product that is not yet waited for reads.
void check_no_product_reads(const Region* region, i64 at, i64 bytes, int line) {
    for (const Crew& crew : crews)
        for (u32 n = 0; n < crew.count; ++n)
            for (u32 side = 0; side < 2; ++side) {
                const PanelProduct& of = crew.list[n].of;
                const i64 first = of.at[side] / LINE_BYTES * LINE_BYTES;
                const i64 lines = side ? of.count * 2 : ROWS_OF_A_GROUP;
                if (of.panel[side] == region && first < at + bytes && at < first + lines * LINE_BYTES)
                    report(line, {crew.list[n].line, "the product"}, "race: a copy to %s sets out while wgmma reads it",
                           region->name);
            }
}

void check_no_product_left() {
    const Crew& crew = crews[now.warp];
    if (crew.count) report(crew.list[0].line, NOWHERE, "a wgmma is never waited for");
    const Log& log = logs[now.warp / 4];
    if (crew.issued < log.count) report(log.list[crew.issued].line, NOWHERE, "not all warps of a warpgroup come to this wgmma");
}

}  // namespace lc
