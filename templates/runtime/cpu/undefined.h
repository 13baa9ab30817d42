// -fsanitize=bounds,shift,… without its library: our own handlers, which know the kernel's line.
#pragma once

namespace lc {

struct SourcePlace {
    const char* file;
    u32 line, column;
};

// In a header of ours the kernel's line is not known, but the last one that accessed memory or waited is.
inline void undefined(const char* message, const SourcePlace& place) {
    const u64 length = __builtin_strlen(place.file);
    const bool ours = length > 2 && __builtin_strcmp(place.file + length - 2, ".h") == 0;
    state->fail(message, int(ours ? state->last_line : place.line));
}

}  // namespace lc

#define LC_UNDEFINED_HANDLER(name, message, ...)                                                        \
    extern "C" __attribute__((visibility("hidden"), used)) void __ubsan_handle_##name(                  \
        lc::SourcePlace* place, ##__VA_ARGS__) {                                                        \
        lc::undefined(message, *place);                                                                 \
    }
LC_UNDEFINED_HANDLER(out_of_bounds, "index outside an array of registers", void*)
LC_UNDEFINED_HANDLER(shift_out_of_bounds, "shift by more bits than the type has", void*, void*)
LC_UNDEFINED_HANDLER(add_overflow, "integer overflow in +", void*, void*)
LC_UNDEFINED_HANDLER(sub_overflow, "integer overflow in -", void*, void*)
LC_UNDEFINED_HANDLER(mul_overflow, "integer overflow in *", void*, void*)
LC_UNDEFINED_HANDLER(negate_overflow, "integer overflow in unary -", void*)
LC_UNDEFINED_HANDLER(divrem_overflow, "integer division by zero or overflow", void*, void*)
LC_UNDEFINED_HANDLER(float_cast_overflow, "float outside the range of the integer", void*)
