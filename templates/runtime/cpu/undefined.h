// -fsanitize=bounds,shift,… without its library: our own handlers, which know the kernel's line.
#pragma once

namespace lc {

struct SourcePlace {
    const char* file;
    u32 line, column;
};

}  // namespace lc

#define LC_UNDEFINED_HANDLER(name, message, ...)                                                                  \
    extern "C" __attribute__((visibility("hidden"), used)) void __ubsan_handle_##name(lc::SourcePlace* p,       \
                                                                                      ##__VA_ARGS__) {           \
        lc::state->fail(message, int(p->line));                                                                  \
    }
LC_UNDEFINED_HANDLER(out_of_bounds, "index outside an array of registers", void*)
LC_UNDEFINED_HANDLER(shift_out_of_bounds, "shift by more bits than the type has", void*, void*)
LC_UNDEFINED_HANDLER(add_overflow, "integer overflow in +", void*, void*)
LC_UNDEFINED_HANDLER(sub_overflow, "integer overflow in -", void*, void*)
LC_UNDEFINED_HANDLER(mul_overflow, "integer overflow in *", void*, void*)
LC_UNDEFINED_HANDLER(negate_overflow, "integer overflow in unary -", void*)
LC_UNDEFINED_HANDLER(divrem_overflow, "integer division by zero or overflow", void*, void*)
LC_UNDEFINED_HANDLER(float_cast_overflow, "float outside the range of the integer", void*)
