// What the lanes of a warp do together, and what each knows of the others' past: after a synchronisation all its
// lanes have seen all that any of them had seen. Shuffles order nothing, as in CUDA.
#include "machine.h"

#include <string.h>

namespace lc {

namespace {

// Lanes that wait for each other.
struct Meeting {
    u32 mask, arrived;
    int line, kind;
    void* lane[32];
};
const u32 MAX_MEETINGS = 32;

struct Warp {
    u32 time, full_time;
    bool partial;               // some synchronisation left lanes out, so `seen` counts
    u32 meeting_count;
    Meeting meetings[MAX_MEETINGS];
    u32 seen[32][32];           // [lane][of whom]
};
Warp warps[MAX_WARPS];

u32 warp_count() { return (thread_count + 31) / 32; }
u32 lowest(u32 mask) { return u32(__builtin_ctz(mask)); }

void synchronise(Warp& warp, u32 present, u32 all) {
    const u32 time = ++warp.time;
    if (present == all) {
        warp.full_time = time;
        return;
    }
    if (!warp.partial) memset(warp.seen, 0, sizeof warp.seen);
    warp.partial = true;
    u32 together[32] = {0};
    for (u32 lane = 0; lane < 32; ++lane) {
        if (!(present >> lane & 1)) continue;
        for (u32 of = 0; of < 32; ++of)
            if (warp.seen[lane][of] > together[of]) together[of] = warp.seen[lane][of];
    }
    for (u32 of = 0; of < 32; ++of)
        if (present >> of & 1) together[of] = time;
    for (u32 lane = 0; lane < 32; ++lane)
        if (present >> lane & 1) memcpy(warp.seen[lane], together, sizeof together);
}

void report_gone(const Meeting& meeting, u32 lane) {
    report(meeting.line, {int(threads[now.warp * 32 + lane].last_line), "it was last seen here"},
           "lane %u returns without this operation of its warp (mask 0x%08x)", lane, meeting.mask);
}

Meeting& join(Warp& warp, u32 mask, int kind, int line) {
    for (u32 i = 0; i < warp.meeting_count; ++i) {
        Meeting& other = warp.meetings[i];
        if (!(other.mask & mask)) continue;
        if (other.mask == mask && other.line == line && other.kind == kind) return other;
        report(line, {other.line, "elsewhere"}, "lanes of a warp have parted: lane %u is here with mask 0x%08x, lane %u elsewhere with 0x%08x",
               now.thread & 31, mask, lowest(other.arrived), other.mask);
    }
    Meeting& fresh = warp.meetings[warp.meeting_count++];       // masks are disjoint, so there are at most 32
    fresh.mask = mask;
    fresh.arrived = 0;
    fresh.line = line;
    fresh.kind = kind;
    const u32 gone = done_lanes[now.warp] & mask;
    if (gone) report_gone(fresh, lowest(gone));
    return fresh;
}

}  // namespace

void forget_warps() {
    for (u32 w = 0; w < warp_count(); ++w) {
        warps[w].time = warps[w].full_time = 0;
        warps[w].partial = false;
    }
}
void clear_warps() {
    forget_warps();
    for (u32 w = 0; w < warp_count(); ++w) warps[w].meeting_count = 0;
}
u32 warp_time(u32 warp) { return warps[warp].time; }
u32 full_time(u32 warp) { return warps[warp].full_time; }
u32 known(u32 warp, u32 lane, u32 of) {
    const u32 partial = warps[warp].partial ? warps[warp].seen[lane][of] : 0;
    return partial > warps[warp].full_time ? partial : warps[warp].full_time;
}
u32 existing_lanes(u32 warp) {
    const u32 left = thread_count - warp * 32;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

void collective(u32 mask, int kind, void* mine, Resolve* resolve, int line) {
    Thread& thread = threads[now.thread];
    const u32 lane = now.thread & 31, all = existing_lanes(now.warp);
    Warp& warp = warps[now.warp];
    spend_fuel(line);
    if (!(mask & now.lane_bit)) report(line, NOWHERE, "the mask 0x%08x leaves out lane %u, which calls", mask, lane);
    thread.doing = AT_WARP;
    thread.line = line;
    thread.mask = mask;
    now.last_line = u32(line);
    Meeting& meeting = join(warp, mask, kind, line);
    meeting.arrived |= now.lane_bit;
    meeting.lane[lane] = mine;
    if (meeting.arrived == (mask & all)) {
        const u32 present = meeting.arrived;
        if (resolve) resolve(meeting.lane, present);
        else synchronise(warp, present, all);
        Meeting& last = warp.meetings[--warp.meeting_count];
        if (&meeting != &last) meeting = last;
        make_ready(now.warp * 32, present);
    }
    wait();
}
void warp_barrier(u32 mask, int line) { collective(mask, WARP_BARRIER, nullptr, nullptr, line); }

void leave_warp() {
    const Warp& warp = warps[now.warp];
    for (u32 i = 0; i < warp.meeting_count; ++i)
        if (warp.meetings[i].mask & now.lane_bit) report_gone(warp.meetings[i], now.thread & 31);
}

}  // namespace lc
