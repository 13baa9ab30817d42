// The fast half of the race detector: an access that is surely right costs a few comparisons, any other is looked
// at by the runtime.
#pragma once
#include "state.h"

namespace lc {

LC_INLINE void note_read(State& t, Region* region, Cell& c, int line) {
    const bool other = c.write_epoch == t.epoch ? c.writer != t.thread : c.write_epoch < t.base;
    if (LC_UNLIKELY(other || (c.read_line & PENDING))) t.suspicious(region, &c, false, line);
    if (c.read_epoch != t.epoch) {
        c.read_epoch = t.epoch;
        c.read_lanes = t.lane_bit;
        c.read_warp = u16(t.warp);
        c.read_line = u32(line);
        c.read_time = t.time;
    } else if (c.read_warp != t.warp) {
        c.read_warp = SEVERAL;
    } else if (c.read_time == t.time) {
        c.read_lanes |= t.lane_bit;
    } else {
        t.more_readers(&c, line);
    }
}
LC_INLINE void note_write(State& t, Region* region, Cell& c, int line) {
    const bool written = c.write_epoch == t.epoch && c.writer != t.thread;
    const bool read = c.read_epoch == t.epoch && (c.read_warp != t.warp || c.read_lanes != t.lane_bit);
    if (LC_UNLIKELY(written || read || (c.read_line & PENDING))) t.suspicious(region, &c, true, line);
    c.write_epoch = t.epoch;
    c.writer = u16(t.thread);
    c.write_time = t.time;
    c.write_line = u32(line);
    c.read_epoch = 0;
}

}  // namespace lc
