// What went wrong: the text of a fault, and the way back to the launcher, also from signals.
#include "machine.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lc {

Launch* current;

namespace {

bool failed;
pthread_t launching_thread;
char alternate_stack[64 << 10];
stack_t former_stack;
const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
const int SIGNAL_COUNT = 4;
struct sigaction former[SIGNAL_COUNT];

void leave() __attribute__((noreturn));
void leave() {
    failed = true;
    resume(nobody, launcher);
    __builtin_unreachable();
}

void note_place(int line, Elsewhere other) {
    current->line = line;
    current->other_line = other.line == line ? 0 : other.line;
    current->other_label = other.label;
    current->block_idx = now.block_idx;
    if (now.thread < MAX_THREADS) current->thread_idx = threads[now.thread].index;
}

const char* name_of(int number) {
    switch (number) {
        case SIGSEGV: return "an access to memory that is not its own (SIGSEGV)";
        case SIGBUS: return "a bus error (SIGBUS)";
        case SIGFPE: return "an integer division that has no result (SIGFPE)";
        default: return "an instruction that cannot be (SIGILL)";
    }
}

void return_from_signal(int number) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    leave();
}

void on_fault(int number, siginfo_t* info, void*) {
    int which = 0;
    while (SIGNALS[which] != number) ++which;
    if (!pthread_equal(pthread_self(), launching_thread) || now.thread >= MAX_THREADS) {
        sigaction(number, &former[which], nullptr);        // not the kernel's: let it happen again, unwatched
        return;
    }
    note_place(int(now.last_line), NOWHERE);
    const bool overflow = is_below_a_stack(info->si_addr);
    snprintf(current->message, current->message_room, "%s stopped the kernel, after the checks of this line",
             overflow ? "an overflow of a thread's stack" : name_of(number));
    return_from_signal(number);
}

#ifdef __linux__
timer_t timer;
bool timed;
u64 block_number, block_at_last_tick;
int timer_signal() { return SIGRTMIN + 3; }
struct sigaction former_timer;

// Two ticks within one block: it took at least the time between them.
void on_tick(int number, siginfo_t*, void*) {
    if (now.thread >= MAX_THREADS || block_number != block_at_last_tick) {
        block_at_last_tick = block_number;
        return;
    }
    note_place(int(now.last_line), NOWHERE);
    snprintf(current->message, current->message_room, "the kernel does not come to an end: a block ran for %u ms, last seen here",
             current->block_ms);
    return_from_signal(number);
}

void start_timer(u32 period_ms) {
    timed = period_ms != 0;
    if (!timed) return;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(timer_signal(), &action, &former_timer);
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal();
    event._sigev_un._tid = pid_t(syscall(SYS_gettid));
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    const timespec period = {period_ms / 1000, long(period_ms % 1000) * 1000000};
    const itimerspec every = {period, period};
    timer_settime(timer, 0, &every, nullptr);
}
void stop_timer() {
    if (!timed) return;
    timer_delete(timer);
    sigaction(timer_signal(), &former_timer, nullptr);
}
void note_block() { ++block_number; }
#else                                           // only the count of synchronisations ends a runaway
void start_timer(u32) {}
void stop_timer() {}
void note_block() {}
#endif

}  // namespace

bool has_failed() { return failed; }
void clear_fault() { failed = false; }
void begin_block_timer() { note_block(); }

void report(int line, Elsewhere other, const char* format, ...) {
    note_place(line, other);
    va_list values;
    va_start(values, format);
    vsnprintf(current->message, current->message_room, format, values);
    va_end(values);
    leave();
}

const char* who(u32 thread) {
    static char text[64];
    const Dim& at = threads[thread].index;
    if (now.block_dim.y == 1 && now.block_dim.z == 1) snprintf(text, sizeof text, "thread %u", at.x);
    else snprintf(text, sizeof text, "thread (%u, %u, %u)", at.x, at.y, at.z);
    return text;
}

void watch_signals(u32 block_ms) {
    launching_thread = pthread_self();
    stack_t alternate;
    memset(&alternate, 0, sizeof alternate);
    alternate.ss_sp = alternate_stack;
    alternate.ss_size = sizeof alternate_stack;
    sigaltstack(&alternate, &former_stack);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &action, &former[i]);
    start_timer(block_ms);
}
void unwatch_signals() {
    stop_timer();
    for (int i = 0; i < SIGNAL_COUNT; ++i) sigaction(SIGNALS[i], &former[i], nullptr);
    sigaltstack(&former_stack, nullptr);
}

// ---- Faults of the kernel's own accesses

void outside_region(Region* region, i64 at, u32 bytes, int line) {
    const i64 element = at >> region->shift, count = bytes >> region->shift;
    report(line, {region->line, "declared here"}, "access outside shared memory: %s[%lld]%s, of %u elements", region->name, element,
           count > 1 ? " and on" : "", region->bytes >> region->shift);
}
void stale(Region* region, i64 at, const Region* content, int line) {
    report(line, {content ? content->line : 0, "declared here"}, "read of %s[%lld], whose bytes still hold %s", region->name,
           at >> region->shift, content ? content->name : "nothing");
}
void outside_array(const ArrayView* array, i64 i, int count, bool write, int line) {
    current->array = array->name;
    current->element = i + array->shift;
    const u32* owner = array->owner;
    const bool between = i >= array->low && i + count <= array->high && owner && owner[i - array->low] == FORBIDDEN;
    report(line, NOWHERE, "%s outside %s: element %lld%s%s", write ? "write" : "read", array->name, i + array->shift,
           count > 1 ? " and on" : "", between ? ", between its rows" : "");
}
void written_twice(const ArrayView* array, i64 i, int line) {
    const u32 owner = array->owner[i - array->low];
    current->array = array->name;
    current->element = i + array->shift;
    if (owner == FORBIDDEN) outside_array(array, i, 1, true, line);
    const u32 thread = (owner - 1) % thread_count;
    report(line, NOWHERE, "%s[%lld] is written twice, the first time by %s of block %u", array->name, i + array->shift, who(thread),
           (owner - 1) / thread_count);
}
void misaligned(const char* name, int bytes, int line) {
    report(line, NOWHERE, "access to %s that is not aligned to its %d bytes", name, bytes);
}
void fail(const char* message, int line) { report(line, NOWHERE, "%s", message); }

}  // namespace lc
